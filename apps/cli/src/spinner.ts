import { printable } from "./format.ts";
import type { Terminal } from "./output.ts";

/** Says on stderr that something is under way, on a terminal; nothing where nobody watches. */
export interface Spinner {
  /** What is under way. */
  say(text: string): void;
  /** Takes the line away, for other lines; it comes again by itself. */
  clear(): void;
  stop(): void;
}

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const frameMs = 100;

export function startSpinner(terminal: Terminal): Spinner {
  if (!terminal.progress) return { say: () => undefined, clear: () => undefined, stop: () => undefined };
  let text = "";
  let frame = 0;
  const startedAt = performance.now();
  const clear = () => {
    terminal.stderr.write("\r\u001b[2K");
  };
  const draw = () => {
    const seconds = Math.floor((performance.now() - startedAt) / 1000);
    terminal.stderr.write(`\r\u001b[2K${frames[frame % frames.length] ?? ""} ${printable(text)}${seconds > 0 ? ` ${String(seconds)} s` : ""}`);
    frame++;
  };
  const timer = setInterval(draw, frameMs);
  return {
    say(next) {
      text = next;
      draw();
    },
    clear,
    stop() {
      clearInterval(timer);
      clear();
    },
  };
}
