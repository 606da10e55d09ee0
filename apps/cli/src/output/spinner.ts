import type { Terminal } from "../core/types.ts";
import { printable } from "./format.ts";

/** Prints nothing unless stderr is a terminal. */
export interface Spinner {
  say(text: string): void;
  /** Erases the line before other output. The next frame draws it again. */
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
    terminal.stderr.write(
      `\r\u001b[2K${frames[frame % frames.length] ?? ""} ${printable(text)}${seconds > 0 ? ` ${String(seconds)} s` : ""}`,
    );
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
