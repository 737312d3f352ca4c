// The mutants of a text in SQL, PL/pgSQL or Lua, one line changed in each.

const isQuery = /\bredis\.call\(|\bKEYS\[|\b(?:SELECT|UPDATE|INSERT|DELETE)\b/;
const operand = String.raw`[\w.:\[\]]+(?:\([^()]*\))?`;
const compared = new RegExp(
  String.raw`(?<=\b(?:WHERE|AND) )${operand} (?:=|<>|<=?|>=?) (?:\?|'[^']*'|${operand})`,
  "g",
);

/** The changes to a line: what is looked for, and what stands there instead. */
const changes = [
  // A condition of a statement that holds for every row; the parameters stay, or the server would refuse it.
  [compared, (match) => `(${match} OR TRUE)`],
  [/(?<=\bif ).+?(?= then\b)/g, () => "true"],
  [/(?<=\bif ).+?(?= then\b)/g, () => "false"],
  [/(?<=\b(?:ELS)?IF (?!NOT? EXISTS)).+?(?= THEN\b)/g, () => "TRUE"],
  [/(?<=\b(?:ELS)?IF (?!NOT? EXISTS)).+?(?= THEN\b)/g, () => "FALSE"],
  [/(?<=\bWHEN )(?!unique_violation).+?(?= THEN\b)/g, () => "FALSE"],
  [/ == /g, () => " ~= "],
  [/ ~= /g, () => " == "],
  [/ (?:<|>)(?= )/g, (match) => `${match}=`],
  [/ (?:<|>)=(?= )/g, (match) => match.slice(0, -1)],
  [/ and /g, () => " or "],
  [/ or /g, () => " and "],
  [/ OR /g, () => " AND "],
  [/ \+ (?=\d)/g, () => " - "],
  // A statement of one line.
  [/^\s*redis\.call\(.*\)$/g, () => ""],
  [/^\s*(?:PERFORM|DELETE|UPDATE) .*;$/g, () => ""],
];

/** `text` is a literal with its quotes. Returns it with one line changed, once for each change; else nothing. */
export function queryMutants(text) {
  if (!isQuery.test(text)) return [];
  const lines = text.split("\n");
  return lines.flatMap((line, at) =>
    mutateLine(line).map((changed) => lines.with(at, changed).join("\n")),
  );
}

function mutateLine(line) {
  if (/^\s*--/.test(line)) return [];
  const code = [...line.matchAll(/\$\{[^}]*\}/g)].map(({ index, 0: { length } }) => [
    index,
    index + length,
  ]);
  return changes.flatMap(([pattern, become]) =>
    [...line.matchAll(pattern)].flatMap(({ 0: match, index }) => {
      const end = index + match.length;
      if (code.some(([from, to]) => index < to && from < end)) return [];
      return `${line.slice(0, index)}${become(match)}${line.slice(end)}`;
    }),
  );
}
