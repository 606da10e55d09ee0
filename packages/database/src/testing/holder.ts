// Opens a database, reports the result on stdout, and closes the database when stdin ends.
import { DatabaseError, openDatabase } from "../index.ts";
import type { HolderOptions, HolderReport } from "./processes.ts";

const silent = (): void => undefined;
const complain = (fields: object, message: string): void => {
  process.stderr.write(`${JSON.stringify({ message, ...fields })}\n`);
};

function report(line: HolderReport): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

const options = JSON.parse(process.argv[2] ?? "{}") as HolderOptions; // written by processes.ts
const startedAt = performance.now();
try {
  const database = await openDatabase({
    ...options,
    log: { debug: silent, info: silent, warn: complain, error: complain },
  });
  const projects = await database.query.selectFrom("projects").select("id").execute();
  report({
    ok: true,
    pid: process.pid,
    duration_ms: performance.now() - startedAt,
    projects: projects.map(({ id }) => id),
  });
  process.stdin.resume().on("end", () => void database.close());
} catch (error) {
  if (!DatabaseError.isInstance(error)) throw error;
  const { code, message, hint } = error;
  report({ ok: false, pid: process.pid, duration_ms: performance.now() - startedAt, code, message, hint });
}
