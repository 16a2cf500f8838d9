// Reads the text of a freeform call out of its function arguments while they stream, so that a preview sees the text and not its JSON.

type State = { type: 'opening'; head: string } | { type: 'inside'; rest: string } | { type: 'over' };

const OPENING = /^\s*\{\s*"input"\s*:\s*"/;
/** No opening is longer, spaces included; past this the arguments have another shape. */
const OPENING_LIMIT = 64;
const HIGH_SURROGATE_END = /[\ud800-\udbff]$/;

export class FreeformInputReader {
  /** 'over' also when the arguments are not `{"input": "…"}`: then there is no preview, and the finished call decides. */
  #state: State = { type: 'opening', head: '' };

  /** The further text that `fragment` brings; often empty. */
  feed(fragment: string): string {
    if (this.#state.type === 'over') return '';
    if (this.#state.type === 'inside') return this.#decode(this.#state.rest + fragment);
    const head = this.#state.head + fragment;
    const opening = OPENING.exec(head);
    if (opening) return this.#decode(head.slice(opening[0].length));
    this.#state = head.length > OPENING_LIMIT ? { type: 'over' } : { type: 'opening', head };
    return '';
  }

  #decode(raw: string): string {
    const { length, closed } = wholePart(raw);
    let text: string;
    try {
      text = JSON.parse(`"${raw.slice(0, length)}"`) as string;
    } catch {
      this.#state = { type: 'over' };
      return '';
    }
    this.#state = closed ? { type: 'over' } : { type: 'inside', rest: raw.slice(length) };
    return text;
  }
}

/** How much of a JSON string's inside can be decoded now: no half escape, no first half of a surrogate pair. */
function wholePart(raw: string): { length: number; closed: boolean } {
  let i = 0;
  let last = 0;
  while (i < raw.length) {
    const char = raw[i];
    if (char === '"') return { length: i, closed: true };
    const width = char !== '\\' ? 1 : raw[i + 1] === 'u' ? 6 : 2;
    if (i + width > raw.length) break;
    const high = width === 6 ? /^d[89ab]/i.test(raw.slice(i + 2, i + 6)) : width === 1 && HIGH_SURROGATE_END.test(char);
    i += width;
    if (!high) last = i;
  }
  return { length: last, closed: false };
}
