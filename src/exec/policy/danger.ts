// Recognises commands that destroy in one stroke: forced removal above all, making file systems, writing to disks, switching the
// machine off. Such a command asks in every sandbox and under every wrapper; under `never` it is refused.
import type { ParsedScript, SimpleCommand, Word } from './syntax.ts';
import { programOf } from './syntax.ts';
import { isWrapper } from './wrappers.ts';

export interface Danger {
  readonly kind: 'forcedRemoval' | 'disk' | 'power';
  /** The command as written, for texts. */
  readonly command: string;
}

const SHORT_FORCE = /^-[A-Za-z]*f[A-Za-z]*$/;
/** Long options may be shortened as long as they stay unique. */
const LONG_FORCE = /^--f(?:o(?:r(?:ce?)?)?)?$/;
export const isForceFlag = (text: string): boolean => SHORT_FORCE.test(text) || LONG_FORCE.test(text);

/** `rm … -f` in text that is not, or not surely, shell: unread scripts and the inline code of interpreters. */
const FORCED_IN_TEXT = /(?:^|[\s;&|(`'"/\\{])rm['"]?[\s,'"[\]]+(?:[^;&|\n]*[\s'"])?(?:-[a-zA-Z]*f[a-zA-Z]*|--f[orce]*)(?=$|[\s'"`);&|}\]])/;
const INTERPRETERS = /^(?:python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|awk|gawk|mawk|osascript|tclsh|expect)[\d.]*$/;

const DISK_DEVICE = /^\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper\/|dm-|md\d|loop)/;
const POWER = new Set(['shutdown', 'reboot', 'poweroff', 'halt']);

/** Words that the running shell could put in place of a dynamic one: values in the script, and words of its other commands. */
function looseWords(parsed: ParsedScript, except: SimpleCommand): string[] {
  const others = parsed.commands.filter((c) => c !== except).flatMap((c) => c.words.slice(1).map((w) => w.text));
  return [...parsed.loose, ...others].flatMap((text) => text.split(/\s+/));
}

function isForced(args: readonly Word[], open: boolean, loose: () => string[]): boolean {
  const end = args.findIndex((w) => w.kind === 'literal' && w.text === '--');
  const options = end < 0 ? args : args.slice(0, end);
  if (options.some((w) => isForceFlag(w.text))) return true;
  return (open || options.some((w) => w.kind === 'dynamic')) && loose().some(isForceFlag);
}

function removesByForce(command: SimpleCommand, parsed: ParsedScript): boolean {
  const wrapped = isWrapper(command);
  const loose = (): string[] => looseWords(parsed, command);
  return command.words.some((word, i) => {
    if (i > 0 && !wrapped) return false;
    const isRm = programOf(word) === 'rm' || (word.kind === 'dynamic' && parsed.loose.some((t) => /(?:^|[\s/])rm(?:\s|$)/.test(t)));
    const fedFromOutside = /^g?xargs$|^parallel$/.test(programOf(command.words[0]));
    return isRm && isForced(command.words.slice(i + 1), fedFromOutside || word.kind === 'dynamic', loose);
  });
}

function hitsDisk(command: SimpleCommand): boolean {
  if (command.redirects.some((r) => r.writes && DISK_DEVICE.test(r.target.text))) return true;
  const names = isWrapper(command) ? command.words : command.words.slice(0, 1);
  return names.some((word, i) => {
    const name = programOf(word);
    return (
      /^mkfs(?:\.|$)/.test(name) ||
      (name === 'dd' && command.words.slice(i + 1).some((w) => w.text.startsWith('of=') && DISK_DEVICE.test(w.text.slice(3))))
    );
  });
}

function switchesOff(command: SimpleCommand): boolean {
  const names = isWrapper(command) ? command.words : command.words.slice(0, 1);
  return names.some((word, i) => {
    const next = command.words.slice(i + 1).map((w) => w.text);
    if (programOf(word) === 'systemctl') return next.some((a) => POWER.has(a));
    if (/^(?:tel)?init$/.test(programOf(word))) return next[0] === '0' || next[0] === '6';
    return POWER.has(programOf(word)) && (i === 0 || word.kind === 'literal');
  });
}

const runsCode = (command: SimpleCommand): boolean =>
  command.words.some((w, i) => (i === 0 || isWrapper(command)) && INTERPRETERS.test(programOf(w)));

/** The danger of one command, or undefined. */
export function dangerOfCommand(command: SimpleCommand, parsed: ParsedScript): Danger | undefined {
  const found = (kind: Danger['kind']): Danger => ({ kind, command: command.source });
  if (removesByForce(command, parsed)) return found('forcedRemoval');
  if (runsCode(command) && command.words.some((w) => FORCED_IN_TEXT.test(w.text))) return found('forcedRemoval');
  if (hitsDisk(command)) return found('disk');
  return switchesOff(command) ? found('power') : undefined;
}

/** The first danger in the script. A script that cannot be read is also searched as plain text. */
export function findDanger(parsed: ParsedScript): Danger | undefined {
  for (const command of parsed.commands) {
    const danger = dangerOfCommand(command, parsed);
    if (danger !== undefined) return danger;
  }
  if (!parsed.ok && FORCED_IN_TEXT.test(parsed.source.replaceAll('\\\n', ''))) return { kind: 'forcedRemoval', command: parsed.source };
  return undefined;
}
