// A plan in a message of Plan mode: what stands between two lines that are tags is the plan, the rest is the message. Text comes in pieces
// and goes on at once, except for the beginning of a line that may yet become a tag.
const OPEN = '<proposed_plan>';
const CLOSE = '</proposed_plan>';

export type PlanPiece = { type: 'message'; text: string } | { type: 'planBegins' } | { type: 'plan'; text: string } | { type: 'planEnds' };

export class PlanSplitter {
  /** The beginning of the line, as long as it may be a tag. */
  #held = '';
  /** The line is no tag: what comes of it goes on. */
  #decided = false;
  #inPlan = false;

  push(text: string): PlanPiece[] {
    const pieces: PlanPiece[] = [];
    for (const part of text.split(/(?<=\n)/)) if (part !== '') this.#take(part, pieces);
    return joined(pieces);
  }

  /** Ends the text: a plan without an end ends with it. */
  finish(): PlanPiece[] {
    const pieces: PlanPiece[] = [];
    if (this.#held.trim() === this.#tag) this.#toggle(pieces);
    else this.#emit(this.#held, pieces);
    this.#held = '';
    if (this.#inPlan) this.#toggle(pieces);
    return joined(pieces);
  }

  /** What is held back and may be text after all. */
  get held(): string {
    return this.#held;
  }

  get #tag(): string {
    return this.#inPlan ? CLOSE : OPEN;
  }

  /** Takes a piece of one line. */
  #take(part: string, pieces: PlanPiece[]): void {
    const ends = part.endsWith('\n');
    if (this.#decided) this.#emit(part, pieces);
    else {
      this.#held += part;
      const line = this.#held.trim();
      if (ends && line === this.#tag) {
        this.#held = '';
        this.#toggle(pieces);
      } else if (ends || !this.#tag.startsWith(line)) {
        this.#emit(this.#held, pieces);
        this.#held = '';
        this.#decided = true;
      }
    }
    if (ends) this.#decided = false;
  }

  #toggle(pieces: PlanPiece[]): void {
    this.#inPlan = !this.#inPlan;
    pieces.push({ type: this.#inPlan ? 'planBegins' : 'planEnds' });
  }

  #emit(text: string, pieces: PlanPiece[]): void {
    if (text !== '') pieces.push({ type: this.#inPlan ? 'plan' : 'message', text });
  }
}

/** Neighbours of a kind become one. */
function joined(pieces: readonly PlanPiece[]): PlanPiece[] {
  const result: PlanPiece[] = [];
  for (const piece of pieces) {
    const last = result.at(-1);
    if ('text' in piece && last && 'text' in last && last.type === piece.type)
      result[result.length - 1] = { ...last, text: last.text + piece.text };
    else result.push(piece);
  }
  return result;
}
