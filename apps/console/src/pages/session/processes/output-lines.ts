export interface OutputLine {
  readonly text: string;
  readonly source: "stdout" | "stderr";
}

const maxLines = 5000;
const maxLineLength = 4000;

/** Colors and other commands to a terminal, and invisible control characters. */
// oxlint-disable-next-line no-control-regex -- removes them
const controls = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

const shown = (text: string): string => text.replace(controls, "");

/** Turns pieces of output, which may end within a character or a line, into lines. Keeps the newest 5,000. */
export class OutputLines {
  readonly #open: Readonly<Record<OutputLine["source"], { readonly decoder: TextDecoder; rest: string }>> = {
    stdout: { decoder: new TextDecoder(), rest: "" },
    stderr: { decoder: new TextDecoder(), rest: "" },
  };
  #complete: OutputLine[] = [];
  isCut = false;

  push(source: OutputLine["source"], bytes: Uint8Array<ArrayBuffer>): void {
    const open = this.#open[source];
    const texts = (open.rest + open.decoder.decode(bytes, { stream: true })).split("\n");
    open.rest = texts.pop() ?? "";
    for (const text of texts) this.#add(source, text);
    while (open.rest.length > maxLineLength) {
      this.#add(source, open.rest.slice(0, maxLineLength));
      open.rest = open.rest.slice(maxLineLength);
    }
  }

  #add(source: OutputLine["source"], text: string): void {
    for (let at = 0; at === 0 || at < text.length; at += maxLineLength)
      this.#complete.push({ source, text: shown(text.slice(at, at + maxLineLength)) });
    if (this.#complete.length <= 2 * maxLines) return;
    this.#complete = this.#complete.slice(-maxLines);
    this.isCut = true;
  }

  /** With the lines that have not ended. */
  lines(): readonly OutputLine[] {
    const unfinished = (["stdout", "stderr"] as const).flatMap((source) => {
      const { rest } = this.#open[source];
      return rest === "" ? [] : [{ source, text: shown(rest) }];
    });
    return [...this.#complete, ...unfinished].slice(-maxLines);
  }
}
