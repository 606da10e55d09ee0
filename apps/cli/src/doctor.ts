import { ExitError } from "./exit-error.ts";
import { loadService } from "./load-service.ts";
import { exitCodes } from "./exit-codes.ts";
import { type OutputFormat, printJson, printJsonLine, styled } from "./output.ts";
import type { Run } from "./program.ts";

/** `shoal doctor`: what sessions would get on this machine, one line each, with what to do about what is missing. */
export async function doctor(options: { output: OutputFormat }, run: Run): Promise<void> {
  const { examine, StartError } = await loadService();
  const findings = await examine({ env: run.env }).catch((error: unknown) => {
    throw StartError.isInstance(error)
      ? new ExitError(error.exitCode === 2 ? exitCodes.usage.status : exitCodes.start.status, error.message, error.hint)
      : error;
  });
  const { terminal } = run;
  // For scripts: `shoal doctor && shoal serve`.
  if (findings.some(({ state }) => state === "missing")) process.exitCode = exitCodes.start.status;
  if (options.output === "jsonl") {
    for (const finding of findings) printJsonLine(terminal, finding);
    return;
  }
  if (options.output === "json") {
    printJson(terminal, findings);
    return;
  }
  const marks = { ok: ["green", "✓"], warning: ["yellow", "!"], missing: ["red", "✗"] } as const;
  const width = Math.max(...findings.map(({ name }) => name.length));
  for (const { name, state, detail, advice } of findings) {
    const [colour, mark] = marks[state];
    terminal.stdout.write(`${styled(terminal, colour, mark)} ${name.padEnd(width)}  ${detail}\n`);
    if (advice !== undefined) terminal.stdout.write(`  ${" ".repeat(width)}  → ${advice}\n`);
  }
}
