// Moves what a part imports from outside (node's modules, other parts, CommonJS packages) from its start to its first use. Works on
// esbuild's own output, where each such import is one variable that is only ever used with a member: `import_x.name`.

/** esbuild's helper may itself come from another part. */
const IMPORT = /^var (import_\w+) = ((?:require\(|__toESM\d*\(|\(0, import_\w+\.__toESM\d*\)\().*);$/gm;
/** How TypeScript's CommonJS output, found in packages, spells the import of a module of node. */
const NODE_IMPORT = /^ +(?:var|const) (\w+_1) = (__require\d*\("(?:node:)?[a-z_/]+"\));$/gm;

/** Goes in front of the code. No module is nullish, so the first value is kept. */
export const FIRST_USE = 'const onFirstUse = (load) => { let value; return () => (value ??= load()); };';

const countOf = (code, pattern) => code.match(pattern)?.length ?? 0;

/** True where every mention of the variable is one of its declarations or a use with a member. */
function isPlain(code, name, declarations) {
  const mentions = countOf(code, new RegExp(`\\b${name}\\b`, 'g'));
  const members = countOf(code, new RegExp(`\\b${name}\\.[A-Za-z_$]`, 'g'));
  return mentions === members + declarations;
}

export function importOnFirstUse(code) {
  const declared = new Map();
  for (const pattern of [IMPORT, NODE_IMPORT]) {
    for (const [, name] of code.matchAll(pattern)) declared.set(name, (declared.get(name) ?? 0) + 1);
  }
  const moved = new Set([...declared].filter(([name, count]) => isPlain(code, name, count)).map(([name]) => name));
  const declare = (line, name, value) => (moved.has(name) ? line.replace(value, () => `onFirstUse(() => ${value})`) : line);
  const use = (text, isNew, name, members) => {
    if (!moved.has(name)) return text;
    return isNew ? `new (${name}()${members})` : `${name}()${members}`;
  };
  return code
    .replace(IMPORT, declare)
    .replace(NODE_IMPORT, declare)
    .replace(/\b(new )?(import_\w+|\w+_1)((?:\.[A-Za-z_$][\w$]*)+)/g, use);
}
