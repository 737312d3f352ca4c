const patterns: readonly (readonly [what: string, pattern: RegExp])[] = [
  // JavaScript, Java, .NET
  [
    "a stack frame",
    /(?:^|\n|\\n)\s*at [^\n]{1,200}?(?::\d+(?::\d+)?\)?|\.(?:java|kt|cs):[\w ]*\d+\)?)/,
  ],
  ["a stack frame", /File \\?"[^"\n]{1,300}", line \d+|Traceback \(most recent call last\)/],
  ["a stack frame", /goroutine \d+ \[|panicked at |\.rb:\d+:in [`']/],
  [
    "a file path",
    /(?<![\w./:])\/(?:home|Users|root|var|etc|usr|opt|srv|private|mnt)\/[\w.@+-]+(?:\/[\w.@+-]+)*/,
  ],
  [
    "a file path",
    /(?<![\w:/])\/(?:[\w.@+-]+\/)+[\w.@+-]+\.(?:[cm]?[jt]sx?|py|java|kt|go|rb|rs|cs|php|exs?|env|sqlite|db|pem|key|sock)\b/,
  ],
  [
    "a file path",
    /\b[A-Z]:\\{1,2}[\w .-]+\\{1,2}[\w .\\-]+|file:\/\/\/\S+|\b(?:node_modules|site-packages)\//,
  ],
  ["a credential", /\b[a-z][a-z0-9+]{2,20}:\/\/[^\s:/@"]+:[^\s@"]+@/],
  ["a credential", /\bsk-[\w-]{16,}|\bBearer [\w.~+/-]{16,}/],
  ["an address", /\bE(?:CONN\w+|HOSTUNREACH|TIMEDOUT|NOTFOUND|AI_AGAIN)\b[^\n"]{0,20}[\w.:[\]-]+/],
];

/**
 * Finds what a client must not see in a text, and describes it; undefined when there is nothing.
 */
export function findLeak(text: string, ownPath: string): string | undefined {
  for (const [what, pattern] of patterns) {
    const found = pattern.exec(text)?.[0].trim();
    if (found !== undefined && !isOwn(found, ownPath)) return `${what}: ${found}`;
  }
}

// Problem details repeat the path of the request.
function isOwn(found: string, ownPath: string): boolean {
  return ownPath !== "/" && found.startsWith(ownPath);
}
