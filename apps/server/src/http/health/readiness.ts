import type { Database } from "@shoal/database";
import { findChromium, type Placement } from "@shoal/placement";
import { messageOf } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { Readiness } from "@shoal/schemas";
import { sql } from "kysely";
import pTimeout from "p-timeout";

const checkTimeoutMs = 3000;
/** Faster probes share one answer. */
const freshMs = 1000;

export interface ReadinessChecks {
  /** @throws {ServiceError} 503 with one detail for each check while a check fails or the server drains. */
  examine(): Promise<Readiness>;
}

async function verdict(check: () => Promise<string>): Promise<string> {
  try {
    return await pTimeout(check(), {
      milliseconds: checkTimeoutMs,
      fallback: () => `no answer within ${String(checkTimeoutMs / 1000)} s`,
    });
  } catch (error) {
    return messageOf(error);
  }
}

export function createReadiness(parts: {
  readonly database: Database;
  readonly placement: Placement;
  readonly chromium: string | undefined;
  readonly isDraining: () => boolean;
  /** Sessions that a draining server waits for; `undefined` = it does not drain. */
  readonly draining: () => number | undefined;
}): ReadinessChecks {
  const { chromium, database, draining, isDraining, placement } = parts;
  function placementState(): string {
    if (isDraining()) return "the server is stopping";
    const left = draining();
    if (left === undefined) return "ok";
    return `the server drains, and starts no sessions; ${left === 1 ? "1 session is" : `${String(left)} sessions are`} left`;
  }

  let last: { readonly atMs: number; readonly checks: Promise<Readonly<Record<string, string>>> } | undefined;

  async function check(): Promise<Readonly<Record<string, string>>> {
    const [databaseVerdict, chromiumVerdict] = await Promise.all([
      verdict(async () => {
        await sql`select 1`.execute(database.query);
        return "ok";
      }),
      verdict(async () => {
        const found = await findChromium(chromium === undefined ? {} : { executable: chromium });
        return found === undefined ? "no Chromium was found; install one, or set SHOAL_CHROMIUM" : "ok";
      }),
    ]);
    return { database: databaseVerdict, chromium: chromiumVerdict };
  }

  return {
    async examine() {
      const atMs = performance.now();
      if (last === undefined || atMs - last.atMs > freshMs) last = { atMs, checks: check() };
      const found = await last.checks;
      const checks = { ...found, placement: placementState() };
      if (Object.values(checks).every((state) => state === "ok")) return { status: "ready", checks };
      const missing = Object.entries(checks).filter(([, state]) => state !== "ok");
      throw new ServiceError(
        503,
        "not_ready",
        `Not ready (placement: ${placement.kind}): ${missing.map(([name, state]) => `${name}: ${state}`).join("; ")}.`,
        {
          details: Object.entries(checks).map(([name, state]) => ({
            code: state === "ok" ? "ok" : "not_ready",
            message: `${name}: ${state}`,
          })),
          retryAfterSeconds: 1,
        },
      );
    },
  };
}
