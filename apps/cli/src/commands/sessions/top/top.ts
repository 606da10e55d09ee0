import { anySignal, messageOf } from "@shoal/primitives";
import { writeSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { ReadStream, WriteStream } from "node:tty";
import { call } from "../../../connection/call.ts";
import { reach } from "../../../connection/reach.ts";
import type { CommandSpec, GlobalFlags, OutputFormat, Run } from "../../../core/types.ts";
import { printList } from "../../../output/print-result.ts";
import { notify, styled } from "../../../output/output.ts";
import { loadRows, type TopRow, type TopSpecs } from "./top-rows.ts";
import { pageRows, topLines, topTable } from "./top-screen.ts";
import { firstState, keysOf, pressed, type TopState, withRows } from "./top-state.ts";

export interface TopFlags extends GlobalFlags {
  readonly output: OutputFormat;
}

const refreshMs = 2_000;
/** Processor time is measured between two calls. */
const measureMs = 500;
/** A terminal that does not read gets no further pictures. */
const maxPendingBytes = 256 * 1024;
const enter = "\u001b[?1049h\u001b[?25l";
const leave = "\u001b[?25h\u001b[?1049l";

/** Shows a live table of sessions; without a terminal, prints it once. */
export async function top(specs: TopSpecs & { readonly end: CommandSpec }, flags: TopFlags, run: Run): Promise<void> {
  const { stdin, stdout } = run.terminal;
  if (flags.output === "table" && stdout instanceof WriteStream && stdin instanceof ReadStream) {
    const first = await loadRows(specs, flags, run);
    await new TopScreen({ specs, flags, run, stdin, stdout }).show(withRows(firstState, first.rows, first.isCut));
  } else await printOnce(specs, flags, run);
}

async function printOnce(specs: TopSpecs, flags: TopFlags, run: Run): Promise<void> {
  const { terminal } = run;
  await loadRows(specs, flags, run);
  await delay(measureMs, undefined, { signal: run.signal });
  const { rows, isCut } = await loadRows(specs, flags, run);
  const state = withRows(firstState, rows, isCut);
  if (flags.output !== "table")
    await printList(specs.list, rows.map(shownRow), { terminal, format: flags.output, args: [], quiet: true });
  else if (rows.length === 0) notify(terminal, flags, "No browsers. Start one: shoal browsers create");
  else {
    const width = terminal.screen ? terminal.width : Infinity;
    terminal.stdout.write(`${topTable(state, { width: Math.min(width, 200), now: new Date() }).join("\n")}\n`);
  }
}

function shownRow({ address, clients, cpuPercent, id, label, memoryBytes, pages, startedMs, usedMs }: TopRow): object {
  return {
    session_id: id,
    name: label === id ? null : label,
    cpu_pct: cpuPercent ?? null,
    mem_bytes: memoryBytes ?? null,
    pages: pages ?? null,
    clients: clients ?? null,
    created_at: new Date(startedMs).toISOString(),
    last_used_at: usedMs === Infinity ? null : new Date(usedMs).toISOString(),
    page_url: address === "" ? null : address,
  };
}

interface TopParts {
  readonly specs: TopSpecs & { readonly end: CommandSpec };
  readonly flags: TopFlags;
  readonly run: Run;
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
}

class TopScreen {
  readonly #parts: TopParts;
  readonly #baseUrl: string;
  readonly #done = new AbortController();
  #state = firstState;

  constructor(parts: TopParts) {
    this.#parts = parts;
    this.#baseUrl = reach(parts.flags, parts.run).baseUrl;
  }

  async show(first: TopState): Promise<void> {
    const { run, stdin, stdout } = this.#parts;
    this.#state = first;
    const quit = anySignal([this.#done.signal, run.signal]);
    // A second signal and failures exit at once.
    process.once("exit", leaveNow);
    try {
      stdin.setRawMode(true);
      stdin.on("data", this.#type).on("end", this.#quit).on("error", this.#quit);
      stdout.on("resize", this.#draw);
      stdout.write(enter);
      this.#draw();
      // Rejects when the user quits.
      while (await delay(refreshMs, true, { signal: quit }).catch(() => false)) await this.#refresh();
    } finally {
      process.off("exit", leaveNow);
      stdout.off("resize", this.#draw).write(leave);
      stdin.off("data", this.#type).off("end", this.#quit).off("error", this.#quit).setRawMode(false).pause();
    }
  }

  readonly #quit = (): void => {
    this.#done.abort();
  };

  readonly #type = (chunk: Buffer): void => {
    for (const key of keysOf(chunk.toString("utf8"))) {
      const { state, action } = pressed(this.#state, key, pageRows(this.#parts.stdout.rows));
      this.#state = state;
      if (action === "quit") {
        this.#quit();
        return;
      }
      if (action !== "none") void this.#end(action.end);
    }
    this.#draw();
  };

  async #end({ id, label }: TopRow): Promise<void> {
    const { flags, run, specs } = this.#parts;
    const message = await call(specs.end, { params: { id_or_name: id }, query: {}, body: undefined }, flags, run).then(
      () => `Ended session ${label}.`,
      (error: unknown) => messageOf(error),
    );
    this.#state = { ...this.#state, message };
    await this.#refresh();
  }

  async #refresh(): Promise<void> {
    const { flags, run, specs } = this.#parts;
    try {
      const { rows, isCut } = await loadRows(specs, flags, run);
      this.#state = withRows(this.#state, rows, isCut);
    } catch (error) {
      this.#state = { ...this.#state, message: messageOf(error) };
    }
    this.#draw();
  }

  readonly #draw = (): void => {
    const { run, stdout } = this.#parts;
    if (this.#done.signal.aborted || run.signal.aborted || stdout.writableLength > maxPendingBytes) return;
    // Some terminals have no size.
    const [width, height] = [stdout.columns || 80, stdout.rows || 24];
    const screen = { width, height, now: new Date(), baseUrl: this.#baseUrl };
    const lines = topLines(this.#state, screen).map((line, index) => this.#styled(line, index));
    stdout.write(`\u001b[H${lines.map((line) => `${line}\u001b[K`).join("\r\n")}\u001b[J`);
  };

  #styled(line: string, index: number): string {
    if (index === 1) return styled(this.#parts.run.terminal, "bold", line);
    return line.startsWith("> ") ? styled(this.#parts.run.terminal, "inverse", line) : line;
  }
}

function leaveNow(): void {
  try {
    writeSync(1, leave);
  } catch {
    // The terminal has gone.
  }
}
