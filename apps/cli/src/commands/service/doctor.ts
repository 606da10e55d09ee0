import type { OutputFormat, Run } from "../../core/types.ts";
import { ExitError } from "../../core/errors.ts";
import { loadService } from "./load-service.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import { printJson, printJsonLine, styled } from "../../output/output.ts";

export async function doctor(options: { output: OutputFormat }, run: Run): Promise<void> {
  const { examine, StartError } = await loadService();
  const findings = await examine({ env: run.env }).catch((error: unknown) => {
    throw StartError.isInstance(error)
      ? new ExitError(error.exitCode === 2 ? exitCodes.usage.status : exitCodes.start.status, error.message, error.hint)
      : error;
  });
  const { terminal } = run;
  // For scripts: `shoal doctor && shoal serve`.
  if (findings.some(({ state }) => state === "missing")) run.exitWith(exitCodes.start.status);
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
