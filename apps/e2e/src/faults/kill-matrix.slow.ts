import { ApiError, type Shoal } from "@shoal/client";
import { eventually } from "@shoal/testkit";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { chromiums, descendantsOf, instances, killAll, type ProcessEntry } from "../testing/processes.ts";
import { rounds, seeded } from "../testing/seeded.ts";
import { runService, type TestService } from "../testing/service.ts";
import { serverCount } from "../testing/several-servers.ts";
import { sessionFolders } from "../testing/session-folder.ts";

const cookie = (name: string) => ({
  cookies: [
    {
      name,
      value: "1",
      domain: "shop.example.com",
      path: "/",
      expires: -1,
      httpOnly: false,
      secure: false,
      sameSite: "Lax" as const,
    },
  ],
  origins: [],
});

/** The killed processes, among those below the server. */
const victims: Readonly<Record<string, (below: readonly ProcessEntry[]) => readonly ProcessEntry[]>> = {
  server: () => [],
  database: (below) => below.filter(({ command }) => command.includes("postgres")),
  instance: instances,
  Chromium: chromiums,
};

/** A call in flight at the kill, and the effect that must survive if it was acknowledged. */
interface Operation {
  readonly needsSession: boolean;
  readonly send: (shoal: Shoal, on: { readonly profile: string; readonly session: string }) => Promise<unknown>;
  readonly holds: (shoal: Shoal, on: { readonly profile: string; readonly session: string }) => Promise<boolean>;
}

const operations: Readonly<Record<string, Operation>> = {
  "a profile is imported": {
    needsSession: false,
    send: ({ profiles }, { profile }) => profiles.storageState.import(profile, cookie("imported")),
    holds: async ({ profiles }, { profile }) =>
      (await profiles.storageState.get(profile))?.cookies[0]?.name === "imported",
  },
  "a browser is created": {
    needsSession: false,
    send: ({ browsers }, { profile }) => browsers.create({ name: profile }),
    holds: async ({ browsers }, { profile }) =>
      (await browsers.list({ status: "all" })).items.some(({ name }) => name === profile),
  },
  "a profile is saved": {
    needsSession: true,
    send: ({ browsers }, { session }) => browsers.saveProfile(session),
    holds: async ({ profiles }, { profile }) =>
      (await profiles.versions.list(profile)).items.some(({ source }) => source === "save"),
  },
  "a browser is deleted": {
    needsSession: true,
    send: ({ browsers }, { session }) => browsers.delete(session),
    holds: async ({ browsers }, { session }) =>
      (await browsers.get(session, { include_deleted: true })).ended_reason === "deleted",
  },
};

const random = seeded("kill matrix");
const cases = Array.from({ length: rounds }, () =>
  Object.keys(victims).flatMap((victim) =>
    Object.keys(operations).map((operation) => ({ victim, operation, afterMs: Math.round(random() * 250) })),
  ),
)
  .flat()
  .map((one, index) => ({ ...one, index }));

describe.each(placements.slice(0, 1))("a kill matrix in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("loses no acknowledged write", () => {
    let test: TestService & { end(): Promise<void> };
    const start = (dataDir?: string) =>
      runService(
        ["--placement", placement, "--profile-checkpoint-seconds", "0"],
        dataDir === undefined ? {} : { dataDir },
      );
    beforeAll(async () => {
      test = await start();
    });
    afterAll(() => test.end());

    /** Kills, and waits until the service answers again. */
    async function kill(victim: string): Promise<void> {
      if (victim === "server") {
        await test.service.stop("SIGKILL");
        test = await start(test.dataDir);
        return;
      }
      killAll(victims[victim]?.(test.pids.flatMap((pid) => descendantsOf(pid))) ?? []);
      await eventually("the service answers", () =>
        test.shoal.profiles.list().then(
          () => true,
          () => false,
        ),
      );
    }

    it.for(cases)(
      "$index: $victim killed $afterMs ms after $operation",
      async ({ victim, operation: title, afterMs, index }, { skip: skipTest }) => {
        const restarts = victim === "server" || victim === "database";
        skipTest(restarts && serverCount > 1, "it starts the service again, and there are several servers");
        const operation = operations[title];
        if (operation === undefined) throw new Error(`Unknown operation ${title}.`);
        const profile = `p${String(index)}`;
        await test.shoal.profiles.create({ name: profile });
        await test.shoal.profiles.storageState.import(profile, cookie("kept"));
        const session = operation.needsSession
          ? (await test.shoal.browsers.create({ profile: { name: profile, save_changes: true }, timeout_seconds: 600 }))
              .session_id
          : "";
        const on = { profile, session };
        const sent = operation.send(test.shoal, on).then(
          () => "acknowledged",
          (error: unknown) => error,
        );
        await delay(afterMs);
        await kill(victim);
        const outcome = await sent;
        if (outcome === "acknowledged") expect(await operation.holds(test.shoal, on)).toBe(true);
        else if (ApiError.isInstance(outcome) && victim !== "server") expect(outcome.message).not.toBe("");
        const state = await test.shoal.profiles.storageState.get(profile);
        expect(["kept", "imported"]).toContain(state?.cookies[0]?.name);
        // With every outcome of the call, its session can be ended, and no process remains.
        for (const { session_id } of (await test.shoal.browsers.list()).items)
          await test.shoal.browsers.delete(session_id).catch(() => undefined);
        await eventually("no session runs", async () => (await test.shoal.browsers.list()).items.length === 0);
        await eventually("no process is left", () => instances(test.processes()).length === 0);
        await eventually("no file is left", () => test.dataDirs.flatMap(sessionFolders).length === 0);
      },
    );
  });
});
