// The rules that keep the sources in layers. Each takes a tree and gives its violations as readable lines; none means all is well.
import { importsOf, type SourceTree, withoutComments } from './source-tree.ts';

/** Imports point from a higher layer to a lower one, or stay within a folder. Folders of one layer do not know each other. */
const LAYERS: Record<string, number> = {
  common: 0,
  protocol: 1,
  config: 2,
  model: 2,
  exec: 2,
  patch: 2,
  mcp: 2,
  hooks: 2,
  tools: 3,
  session: 4,
  server: 5,
};
/** Entry points may use each other: the program has to choose among its front doors. */
const ENTRY_POINTS = ['main.ts', 'extension.ts', 'cli', 'acp', 'client', 'testing', 'demo'];
const ENTRY_LAYER = 6;
const MAX_LINES = 400;

const folderOf = (file: string): string => file.split('/')[1] ?? '';
const layerOf = (folder: string): number | undefined => LAYERS[folder] ?? (ENTRY_POINTS.includes(folder) ? ENTRY_LAYER : undefined);

export function layerViolations(tree: SourceTree): string[] {
  const violations: string[] = [];
  for (const [file, text] of tree) {
    const from = folderOf(file);
    const layer = layerOf(from);
    if (layer === undefined) {
      violations.push(`${file}: src/${from} is in no layer`);
      continue;
    }
    for (const target of importsOf(file, text)) {
      if (!target.startsWith('src/')) continue;
      const to = folderOf(target);
      const below = (layerOf(to) ?? ENTRY_LAYER + 1) < layer;
      if (!below && to !== from && layer !== ENTRY_LAYER) violations.push(`${file}: src/${from} must not import src/${to} (${target})`);
    }
  }
  return violations.sort();
}

/** Each cycle once, as the way round from its first file by name. Type-only imports count: they tie two files together all the same. */
export function cycles(tree: SourceTree): string[] {
  const found = new Set<string>();
  const done = new Set<string>();
  const visit = (file: string, way: string[]): void => {
    const start = way.indexOf(file);
    if (start >= 0) {
      found.add(canonical(way.slice(start)));
      return;
    }
    if (done.has(file)) return;
    for (const target of importsOf(file, tree.get(file) ?? '')) if (tree.has(target)) visit(target, [...way, file]);
    done.add(file);
  };
  for (const file of tree.keys()) visit(file, []);
  return [...found].sort();
}

function canonical(cycle: string[]): string {
  const first = cycle.indexOf([...cycle].sort()[0] ?? '');
  const turned = [...cycle.slice(first), ...cycle.slice(0, first)];
  return [...turned, turned[0]].join(' → ');
}

export function longFiles(tree: SourceTree): string[] {
  const lines = (text: string) => text.replace(/\n$/, '').split('\n').length;
  return [...tree]
    .filter(([, text]) => lines(text) > MAX_LINES)
    .map(([file, text]) => `${file}: ${lines(text)} lines, at most ${MAX_LINES}`);
}

interface Ban {
  readonly pattern: RegExp;
  readonly why: string;
  readonly allowed: (file: string) => boolean;
}

const isEntry = (file: string): boolean => file === 'src/main.ts' || file.startsWith('src/cli/');

const BANS: Ban[] = [
  { pattern: /\bconsole\./, why: 'writes to the console; use the logger', allowed: isEntry },
  {
    pattern: /\bprocess\.stdout\b/,
    why: 'touches stdout, which carries the protocol',
    allowed: (file) => isEntry(file) || file === 'src/server/transport.ts',
  },
  {
    pattern: /(?:biome|eslint)-(?:ignore|disable)|@ts-(?:ignore|nocheck|expect-error)/,
    why: 'switches a rule off; change the code instead',
    allowed: () => false,
  },
  { pattern: /\bas any\b|[:<]\s*any\b/, why: 'uses any', allowed: () => false },
];

/** Words that must not stand in the code of src. Suppressions are looked for in comments, the others outside of them. */
export function bannedWords(tree: SourceTree): string[] {
  const violations: string[] = [];
  for (const [file, text] of tree) {
    const code = withoutComments(text);
    for (const { pattern, why, allowed } of BANS) {
      const place = pattern.source.includes('@ts-') ? text : code;
      if (pattern.test(place) && !allowed(file)) violations.push(`${file}: ${why}`);
    }
  }
  return violations.sort();
}

/** Packages that one file alone may import, as it fences off their faults. */
const OWNED: Record<string, string> = { 'node-pty': 'src/exec/pty.ts' };

export function ownedPackages(tree: SourceTree): string[] {
  const violations: string[] = [];
  for (const [file, text] of tree) {
    for (const target of importsOf(file, text)) {
      const owner = OWNED[target];
      if (owner !== undefined && owner !== file) violations.push(`${file}: ${target} is imported by ${owner} only`);
    }
  }
  return violations.sort();
}

export function oddNames(tree: SourceTree): string[] {
  const odd = [...tree.keys()].filter((file) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.test|\.d)?\.ts$/.test(file.split('/').at(-1) ?? ''));
  return odd.map((file) => `${file}: file names are kebab-case`);
}
