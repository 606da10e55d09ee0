const maxHeldLength = 64;

/** DEC private modes that a detached program leaves set, and the sequence that resets each. */
const resets: Readonly<Record<string, { readonly changedBy: "h" | "l"; readonly reset: string }>> = {
  1: { changedBy: "h", reset: "\u001b[?1l" },
  7: { changedBy: "l", reset: "\u001b[?7h" },
  25: { changedBy: "l", reset: "\u001b[?25h" },
  47: { changedBy: "h", reset: "\u001b[?47l" },
  1000: { changedBy: "h", reset: "\u001b[?1000l" },
  1002: { changedBy: "h", reset: "\u001b[?1002l" },
  1003: { changedBy: "h", reset: "\u001b[?1003l" },
  1004: { changedBy: "h", reset: "\u001b[?1004l" },
  1006: { changedBy: "h", reset: "\u001b[?1006l" },
  1047: { changedBy: "h", reset: "\u001b[?1047l" },
  1049: { changedBy: "h", reset: "\u001b[?1049l" },
  2004: { changedBy: "h", reset: "\u001b[?2004l" },
};

const escape = "\u001b";
const privateMode = new RegExp(`${escape}\\[\\?([\\d;]+)([hl])`, "g");
const style = new RegExp(`${escape}\\[[\\d;:]*m`);
const complete = new RegExp(`^${escape}\\[[?\\d;:]*[@-~]`);

/**
 * Tracks changed terminal modes (alternate screen, hidden cursor, mouse reports, bracketed paste), because a detached
 * program does not reset them.
 * @see {@link https://invisible-island.net/xterm/ctlseqs/ctlseqs.html | XTerm control sequences, DECSET}
 */
export class TerminalModes {
  readonly #changed = new Set<string>();
  #held = "";
  #isStyled = false;

  /** A sequence may be split between chunks. */
  read(bytes: Uint8Array): void {
    const text = this.#held + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
    for (const [, modes = "", verb] of text.matchAll(privateMode))
      for (const mode of modes.split(";")) {
        const known = resets[mode];
        if (known === undefined) continue;
        if (known.changedBy === verb) this.#changed.add(mode);
        else this.#changed.delete(mode);
      }
    if (style.test(text)) this.#isStyled = true;
    const start = text.lastIndexOf(escape);
    const tail = start < 0 ? "" : text.slice(start);
    this.#held = tail.length <= maxHeldLength && !complete.test(tail) ? tail : "";
  }

  /** Returns the sequences that reset the terminal; empty if nothing changed. */
  reset(): string {
    // Ascending, so that the alternate screen is reset after the modes set in it.
    const modes = [...this.#changed]
      .sort((one, other) => Number(one) - Number(other))
      .map((mode) => resets[mode]?.reset ?? "");
    return (this.#isStyled ? "\u001b[0m" : "") + modes.join("");
  }
}
