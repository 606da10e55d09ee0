import { styleText } from "node:util";
import { loadService } from "./load-service.ts";
import { printJson } from "./output.ts";
import type { Run } from "./program.ts";

/** `shoal doctor`: what sessions would get on this machine, one line each, with what to do about what is missing. */
export async function doctor(options: { output: "table" | "json" }, run: Run): Promise<void> {
  const { examine } = await loadService();
  const findings = await examine({ env: run.env });
  const { terminal } = run;
  if (options.output === "json") {
    printJson(terminal, findings);
    return;
  }
  const marks = { ok: ["green", "✓"], warning: ["yellow", "!"], missing: ["red", "✗"] } as const;
  const width = Math.max(...findings.map(({ name }) => name.length));
  for (const { name, state, detail, advice } of findings) {
    const [colour, mark] = marks[state];
    terminal.stdout.write(`${terminal.colour ? styleText(colour, mark, { validateStream: false }) : mark} ${name.padEnd(width)}  ${detail}\n`);
    if (advice !== undefined) terminal.stdout.write(`  ${" ".repeat(width)}  → ${advice}\n`);
  }
}
