import type { Described } from "@shoal/app-runner";
import type { OutputFormat, Run } from "../../../core/types.ts";
import { printable, printableLines } from "../../../output/format.ts";
import { printJson, printJsonLine, styled } from "../../../output/output.ts";
import { toYaml } from "../../../output/to-yaml.ts";
import type { LocalCall, LocalResult } from "./local-app.ts";

const eraseLine = "\r\u001b[2K";

/** Prints log lines, notices and results. Logs and notices go to stderr, except with `-o jsonl`. */
export class DevView {
  readonly #run: Run;
  readonly #format: OutputFormat;
  readonly #isQuiet: boolean;
  /** Draws the prompt again after other output. */
  #redraw: (() => void) | undefined;

  constructor(run: Run, { output, quiet }: { readonly output: OutputFormat; readonly quiet?: boolean }) {
    this.#run = run;
    this.#format = output;
    this.#isQuiet = quiet === true;
  }

  below(redraw: (() => void) | undefined): void {
    this.#redraw = redraw;
  }

  line(source: "stdout" | "stderr" | "build" | "dev", message: string): void {
    const { terminal } = this.#run;
    const at = new Date();
    if (this.#format === "jsonl") {
      printJsonLine(terminal, { event: "log", timestamp: at.toISOString(), source, message });
      return;
    }
    const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, "0"));
    const when = `${time.join(":")}.${String(at.getMilliseconds()).padStart(3, "0")}`;
    const head = `${when} ${source.padEnd(6)}`;
    this.#above(`${styled({ colour: terminal.errorColour }, "dim", head)} ${printableLines(message)}\n`);
  }

  notice(text: string): void {
    if (!this.#isQuiet) this.line("dev", text);
  }

  actions(apps: Described): void {
    if (this.#isQuiet || this.#format !== "table") return;
    const lines = apps.flatMap(({ name, actions }) => [
      `${printable(name)}\n`,
      ...actions.map((action) => `  ${printable(action.name)}${fieldsOf(action.input_schema)}\n`),
    ]);
    this.#above(lines.join(""));
  }

  result(call: Omit<LocalCall, "payload">, { status, output, status_reason }: LocalResult, tookMs: number): void {
    const { terminal } = this.#run;
    const { app_name, action_name, invocation_id } = call;
    const value = {
      ...{ app_name, action_name, invocation_id, status },
      ...(status_reason !== undefined && { status_reason }),
      ...(output !== undefined && { output }),
    };
    switch (this.#format) {
      case "json":
        printJson(terminal, value);
        return;
      case "jsonl":
        printJsonLine(terminal, { event: "invocation_state", timestamp: new Date().toISOString(), invocation: value });
        return;
      case "yaml":
        terminal.stdout.write(toYaml(value));
        return;
      case "table": {
        if (this.#redraw !== undefined) terminal.stderr.write(eraseLine);
        if (status === "succeeded" && output !== undefined) terminal.stdout.write(`${printableLines(output)}\n`);
        const reason = status === "failed" && status_reason !== undefined ? `: ${status_reason}` : "";
        this.notice(`${action_name} ${status} after ${tookMs.toFixed(0)} ms${reason}`);
      }
    }
  }

  #above(text: string): void {
    this.#run.terminal.stderr.write(this.#redraw === undefined ? text : eraseLine + text);
    this.#redraw?.();
  }
}

/** ` {name, age?}` */
function fieldsOf(schema: Readonly<Record<string, unknown>> | null): string {
  const properties = schema?.properties;
  if (typeof properties !== "object" || properties === null) return "";
  const required: readonly unknown[] = Array.isArray(schema?.required) ? schema.required : [];
  const names = Object.keys(properties).map((name) => `${printable(name)}${required.includes(name) ? "" : "?"}`);
  return names.length === 0 ? "" : ` {${names.join(", ")}}`;
}
