import type { TransportLogger } from "../surface/options.ts";

/** Texts of the console. */
const written = new Set<string>();
const maxWritten = 100;

/** Without a logger, writes each text once to the console: a misspelled field is otherwise lost without a word. */
export function warnOfIgnoredFields(logger: TransportLogger | undefined, operation: string, fields: string): void {
  if (logger !== undefined) {
    logger.warn({ operation, ignored_fields: fields }, "shoal ignored unknown fields");
    return;
  }
  const text = `shoal: ${operation} ignored unknown fields: ${fields}`;
  if (written.has(text) || written.size >= maxWritten) return;
  written.add(text);
  // oxlint-disable-next-line no-console -- developers look there for their mistakes
  console.warn(text);
}
