// The table of programs that only read, with every option under which that stays true. An option that is not here is not safe:
// the table grows by looking an option up, never by leaving one out of a list of bad ones.

export interface SafeProgram {
  /** Letters that may be bundled: -la. */
  readonly letters?: string;
  /** Letters that take a value, attached or as the next word: -n5, -n 5. */
  readonly valued?: string;
  /** Long options (and single-dash words) without a value, or with =value where the value cannot write or run. */
  readonly long?: readonly string[];
  /** Long options that take the next word when they have no =value. */
  readonly longValued?: readonly string[];
  /** A bare number is an option: head -20. */
  readonly digits?: boolean;
  /** Most operands that keep it reading; Infinity when not given. */
  readonly maxOperands?: number;
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

const NOTHING: SafeProgram = { letters: '', maxOperands: Number.POSITIVE_INFINITY };
const LINES: SafeProgram = {
  letters: 'qvz',
  valued: 'nc',
  long: words('--quiet --silent --verbose'),
  longValued: words('--lines --bytes'),
  digits: true,
};
const GREP: SafeProgram = {
  letters: 'EFGPivwxcLlqsbHhnoTZaIrRUyz',
  valued: 'efmABCdD',
  digits: true,
  long: words(`
      --extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case --no-ignore-case --invert-match
      --word-regexp --line-regexp --count --color --colour --files-without-match --files-with-matches --only-matching
      --quiet --silent --no-messages --byte-offset --with-filename --no-filename --line-number --null --text --recursive
      --dereference-recursive`),
  longValued: words(`
      --regexp --file --max-count --after-context --before-context --context --include --exclude --exclude-dir --label`),
};
const RIPGREP: SafeProgram = {
  letters: 'SFivwxclqHINnosuaUPL0p.',
  valued: 'egtTmABCMrdEjf',
  long: words(`
      --smart-case --fixed-strings --ignore-case --case-sensitive --invert-match --word-regexp --line-regexp --count
      --count-matches --files --files-with-matches --files-without-match --quiet --with-filename --no-filename --line-number
      --no-line-number --column --only-matching --no-messages --hidden --no-ignore --no-ignore-vcs --unrestricted --text
      --multiline --multiline-dotall --pcre2 --follow --heading --no-heading --pretty --json --stats --trim --vimgrep --null
      --no-config --type-list`),
  longValued: words(`
      --regexp --glob --iglob --type --type-not --max-count --after-context --before-context --context --max-columns
      --replace --max-depth --encoding --threads --sort --sortr --color --colors --path-separator --max-filesize --file`),
};

export const SAFE_PROGRAMS: Readonly<Record<string, SafeProgram>> = {
  ls: {
    letters: 'aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1',
    valued: 'IwT',
    long: words(`
      --all --almost-all --author --escape --ignore-backups --color --directory --classify --file-type --full-time
      --group-directories-first --no-group --human-readable --si --inode --kibibytes --dereference --numeric-uid-gid
      --literal --quote-name --reverse --recursive --size --zero`),
    longValued: words(`
      --block-size --format --hide --ignore --indicator-style --quoting-style --sort --time --time-style --tabsize --width`),
  },
  cat: {
    letters: 'AbeEnstTuv',
    long: words('--show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting'),
  },
  head: LINES,
  tail: { ...LINES, letters: 'qvzr' },
  wc: { letters: 'clmLw', long: words('--bytes --chars --lines --max-line-length --words') },
  nl: { letters: 'p', valued: 'bdfhilnsvw' },
  pwd: { letters: 'LP', maxOperands: 0 },
  echo: NOTHING,
  printf: NOTHING,
  true: NOTHING,
  false: NOTHING,
  ':': NOTHING,
  test: NOTHING,
  '[': NOTHING,
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  rg: RIPGREP,
  sort: {
    letters: 'bdfghiMnRrVcCmsuz',
    valued: 'ktS',
    long: words(`
      --reverse --numeric-sort --human-numeric-sort --version-sort --unique --check --stable --ignore-case --zero-terminated`),
    longValued: words('--key --field-separator'),
  },
  // A second operand of uniq is its output file.
  uniq: {
    letters: 'cdDiuz',
    valued: 'fsw',
    long: words('--count --repeated --ignore-case --unique --zero-terminated'),
    longValued: words('--skip-fields --skip-chars --check-chars'),
    maxOperands: 1,
  },
  cut: {
    letters: 'ns',
    valued: 'bcdf',
    long: words('--complement --only-delimited'),
    longValued: words('--bytes --characters --delimiter --fields --output-delimiter'),
  },
  tr: { letters: 'cCdst', long: words('--complement --delete --squeeze-repeats --truncate-set1') },
  stat: { letters: 'Lft', valued: 'c', long: words('--dereference --file-system --terse'), longValued: words('--format --printf') },
  file: { letters: 'biLhkrs', long: words('--brief --mime --mime-type --mime-encoding --dereference') },
  which: { letters: 'as' },
  id: { letters: 'agGnruzZ' },
  uname: { letters: 'asnrvmpio', maxOperands: 0 },
  whoami: { maxOperands: 0 },
  // An operand of date without a leading + sets the clock; see the extra check in safe-commands.
  date: { letters: 'uRI', valued: 'dr', long: words('--utc --iso-8601 --rfc-email --rfc-3339'), longValued: words('--date --reference') },
  env: { letters: '', maxOperands: 0 },
  basename: { letters: 'az', valued: 's', long: words('--multiple --zero'), longValued: words('--suffix') },
  dirname: { letters: 'z', long: words('--zero') },
  realpath: {
    letters: 'eLmPqsz',
    long: words('--canonicalize-existing --canonicalize-missing --logical --physical --quiet --strip --zero'),
    longValued: words('--relative-to --relative-base'),
  },
  readlink: { letters: 'efmnqsvz' },
  du: {
    letters: 'abcDhHkLlmPsSx0',
    valued: 'dtB',
    long: words('--all --apparent-size --bytes --human-readable --summarize --total'),
    longValued: words('--max-depth --exclude'),
  },
  df: { letters: 'ahHiklPT' },
  cmp: { letters: 'bls', valued: 'in' },
  diff: {
    letters: 'abBcdeiNpqrstuwyEZ',
    valued: 'UCWxI',
    long: words(`
      --brief --recursive --unified --side-by-side --ignore-case --ignore-all-space --new-file --text --color --no-color`),
    longValued: words('--exclude'),
  },
  sha256sum: { letters: 'bct' },
  md5sum: { letters: 'bct' },
};

const FIND_ALONE = words(`
  -H -L -P -a -and -o -or -not ! ( ) , -print -print0 -ls -prune -quit -depth -d -xdev -mount -empty -true -false -executable
  -readable -writable -nouser -nogroup -daystart -follow`);
const FIND_VALUED = words(`
  -name -iname -path -ipath -wholename -regex -iregex -regextype -lname -ilname -type -xtype -maxdepth -mindepth -size -mtime
  -mmin -atime -amin -ctime -cmin -newer -perm -user -group -uid -gid -links -inum -samefile -printf -fstype`);

/** Tests and options of find that neither run nor write; the value says whether the next word belongs to it. */
export const SAFE_FIND: ReadonlyMap<string, boolean> = new Map([
  ...FIND_ALONE.map((w) => [w, false] as const),
  ...FIND_VALUED.map((w) => [w, true] as const),
]);

const GIT_FORMAT = words(`
      --oneline --stat --shortstat --numstat --name-only --name-status --summary --no-color --color --graph --decorate
      --no-decorate --all --patch --no-patch --no-ext-diff --no-textconv --cached --staged --merged --no-merges --merges
      --reverse --first-parent --follow --abbrev-commit --date --format --pretty --since --until --after --before --author
      --grep --max-count --skip --unified --word-diff --check --quiet --ignore-all-space --ignore-space-change --diff-filter
      --find-renames --raw --full-index --relative --exit-code`);
const GIT_SHOW: SafeProgram = { letters: 'pqsuwbzMC', valued: 'nULSG', digits: true, long: GIT_FORMAT };

/** Subcommands of git that read. Without any option before the subcommand; see safe-commands. */
export const SAFE_GIT: Readonly<Record<string, SafeProgram>> = {
  status: {
    letters: 'sbuvz',
    long: words(`
      --short --branch --porcelain --long --verbose --untracked-files --ignored --no-renames --show-stash --ahead-behind`),
  },
  log: GIT_SHOW,
  diff: GIT_SHOW,
  show: GIT_SHOW,
  shortlog: { letters: 'nsecw', long: words('--numbered --summary --email --all') },
  branch: { letters: 'avrl', long: words('--list --all --remotes --verbose --show-current --no-color'), maxOperands: 0 },
  tag: { letters: 'l', long: words('--list'), maxOperands: 0 },
  remote: { letters: 'v', long: words('--verbose'), maxOperands: 0 },
  'rev-parse': {
    letters: 'q',
    long: words(`
      --show-toplevel --abbrev-ref --short --verify --git-dir --is-inside-work-tree --show-prefix --symbolic-full-name
      --quiet`),
  },
  'ls-files': { letters: 'cdmostuz', long: words('--cached --deleted --modified --others --exclude-standard --stage') },
  'ls-tree': { letters: 'drtlz', long: words('--name-only --full-tree --long') },
  'cat-file': { letters: 'pte' },
  blame: { letters: 'wslfne', valued: 'L', long: words('--line-porcelain --porcelain') },
  describe: { long: words('--tags --always --dirty --all --long') },
  grep: {
    letters: 'EFGPivwcLlqhHnoIz',
    valued: 'eABC',
    long: words('--ignore-case --line-number --count --name-only --cached --untracked'),
  },
};
