// The one-line mutants of a TypeScript file: a place in its text, and what stands there instead. Values, conditions and
// statements are changed; types, imports, sentences and names are not.
import ts from "typescript";
import { queryMutants } from "./query-mutants.mjs";

const { SyntaxKind: Kind } = ts;

/** `text` is the source. A mutant is `{ start, end, isStatement, becomes }`, in the order of the text. */
export function findMutants(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = [];
  source.forEachChild(visit);
  return found.toSorted((one, other) => one.start - other.start || other.end - one.end);

  function visit(node) {
    if (ts.isTypeNode(node) || skipped.has(node.kind)) return;
    const add = (becomes) => found.push(place(node, becomes, false));
    const drop = () => found.push(place(node, "", true));
    mutate(node, { add, drop, print: (part) => part.getText(source) });
    node.forEachChild(visit);
  }

  function place(node, becomes, isStatement) {
    return { start: node.getStart(source), end: node.end, becomes, isStatement };
  }
}

const skipped = new Set([
  Kind.InterfaceDeclaration,
  Kind.TypeAliasDeclaration,
  Kind.ImportDeclaration,
  Kind.ExportDeclaration,
]);

const swapped = new Map([
  [Kind.LessThanToken, "<="],
  [Kind.LessThanEqualsToken, "<"],
  [Kind.GreaterThanToken, ">="],
  [Kind.GreaterThanEqualsToken, ">"],
  [Kind.EqualsEqualsEqualsToken, "!=="],
  [Kind.ExclamationEqualsEqualsToken, "==="],
  [Kind.PlusToken, "-"],
  [Kind.MinusToken, "+"],
  [Kind.AsteriskToken, "/"],
  [Kind.SlashToken, "*"],
  [Kind.PlusEqualsToken, "-="],
  [Kind.MinusEqualsToken, "+="],
  [Kind.QuestionQuestionEqualsToken, "="],
]);
const logical = new Set([
  Kind.AmpersandAmpersandToken,
  Kind.BarBarToken,
  Kind.QuestionQuestionToken,
]);
const equality = new Set([Kind.EqualsEqualsEqualsToken, Kind.ExclamationEqualsEqualsToken]);
const methods = new Map([
  ["some", "every"],
  ["every", "some"],
  ["min", "max"],
  ["max", "min"],
]);

function mutate(node, { add, drop, print }) {
  if (isCondition(node)) {
    // A loop that never ends shows nothing but that.
    if (!isLoop(node.parent)) add("true");
    add("false");
  }
  if (ts.isBinaryExpression(node)) return mutateBinary(node, add, print);
  if (ts.isPrefixUnaryExpression(node) && node.operator === Kind.ExclamationToken) {
    if (!isCondition(node)) add(print(node.operand));
    return;
  }
  if (node.kind === Kind.TrueKeyword) return isValue(node) && add("false");
  if (node.kind === Kind.FalseKeyword) return isValue(node) && add("true");
  if (ts.isNumericLiteral(node)) return isValue(node) && add(`${print(node)} + 1`);
  if (isText(node)) return mutateText(node, add, print);
  if (ts.isCallExpression(node)) return mutateCall(node, add, print);
  if (isDroppable(node) && !isOnlyStatement(node)) drop();
}

function mutateBinary(node, add, print) {
  const { left, right, operatorToken } = node;
  const { kind } = operatorToken;
  if (logical.has(kind)) {
    add(print(left));
    add(print(right));
    return;
  }
  const other = swapped.get(kind);
  // A condition that is nothing but an equality is tried as true and as false.
  if (other === undefined || (equality.has(kind) && isCondition(node))) return;
  const isJoin = kind === Kind.PlusToken && [left, right].some(isText);
  if (!isJoin) add(`${print(left)} ${other} ${print(right)}`);
}

function mutateText(node, add, print) {
  const text = print(node);
  for (const becomes of queryMutants(text)) add(becomes);
  // A word is a kind, a code or a key; sentences are for people.
  if (ts.isStringLiteral(node) && isValue(node) && /^\S+$/.test(node.text)) add('""');
}

function mutateCall(node, add, print) {
  const called = node.expression;
  if (!ts.isPropertyAccessExpression(called) || isChained(node)) return;
  const receiver = print(called.expression);
  const args = node.arguments.map(print).join(", ");
  const other = methods.get(called.name.text);
  const dot = called.questionDotToken ? "?." : ".";
  if (other && node.arguments.length > 0) add(`${receiver}${dot}${other}(${args})`);
  if (called.name.text === "filter") add(receiver);
}

function isText(node) {
  return (
    ts.isStringLiteral(node) ||
    ts.isNoSubstitutionTemplateLiteral(node) ||
    ts.isTemplateExpression(node)
  );
}

function isLoop(node) {
  return ts.isWhileStatement(node) || ts.isDoStatement(node) || ts.isForStatement(node);
}

function isCondition(node) {
  const { parent } = node;
  if (ts.isForStatement(parent) || ts.isConditionalExpression(parent)) {
    return parent.condition === node;
  }
  const has = ts.isIfStatement(parent) || ts.isWhileStatement(parent) || ts.isDoStatement(parent);
  return has && parent.expression === node;
}

// Where a literal is a value, and not the name of something or a part of a comparison.
function isValue(node) {
  const { parent } = node;
  if (ts.isBinaryExpression(parent)) return !equality.has(parent.operatorToken.kind);
  if (ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent)) {
    return parent.initializer === node;
  }
  if (ts.isCallExpression(parent) || ts.isNewExpression(parent)) return parent.expression !== node;
  return (
    ts.isReturnStatement(parent) ||
    ts.isArrayLiteralExpression(parent) ||
    ts.isArrowFunction(parent) ||
    ts.isVariableDeclaration(parent) ||
    ts.isConditionalExpression(parent)
  );
}

// Within `a?.b(c).d`, where parentheses would end the chain early.
function isChained({ parent }) {
  return (parent.flags & ts.NodeFlags.OptionalChain) !== 0;
}

function isDroppable(node) {
  if (ts.isThrowStatement(node) || ts.isContinueStatement(node)) return true;
  if (ts.isReturnStatement(node)) return !(isUndefined(node.expression) && isLast(node));
  if (!ts.isExpressionStatement(node)) return false;
  const { expression } = node;
  return !(ts.isCallExpression(expression) && expression.expression.kind === Kind.SuperKeyword);
}

function isUndefined(node) {
  return node === undefined || (ts.isIdentifier(node) && node.text === "undefined");
}

// The last that a function does: without `return undefined` it returns the same.
function isLast(node) {
  const { parent } = node;
  if (ts.isFunctionLike(parent)) return true;
  const isInside = ts.isBlock(parent) && parent.statements.at(-1) !== node;
  if (isInside || isLoop(parent) || ts.isForOfStatement(parent) || ts.isForInStatement(parent))
    return false;
  return !ts.isCaseOrDefaultClause(parent) && !ts.isSourceFile(parent) && isLast(parent);
}

// `if (c) statement;` without it is what the condition `false` makes of it.
function isOnlyStatement({ parent }) {
  const owner = ts.isBlock(parent) && parent.statements.length === 1 ? parent.parent : parent;
  return ts.isIfStatement(owner) && owner.elseStatement === undefined;
}
