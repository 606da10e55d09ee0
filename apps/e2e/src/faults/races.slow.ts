import { ApiError, type Shoal } from "@shoal/client";
import { eventually } from "@shoal/testkit";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { rounds, seeded } from "../testing/seeded.ts";
import { runService, type TestService } from "../testing/service.ts";

interface Race {
  /** Creates the object of the race under a new name per round. */
  readonly prepare: (shoal: Shoal, name: string) => Promise<string>;
  readonly calls: readonly [Call, Call];
  readonly rounds: number;
}
type Call = (shoal: Shoal, id: string, name: string) => Promise<unknown>;

const profileOf = (shoal: Shoal, name: string) => shoal.profiles.create({ name }).then(({ id }) => id);
const browserOf = (shoal: Shoal, name: string) =>
  shoal.browsers.create({ name, timeout_seconds: 600 }).then(({ session_id }) => session_id);
const writerOf = async (shoal: Shoal, name: string): Promise<string> => {
  await shoal.profiles.create({ name });
  return (await shoal.browsers.create({ profile: { name, save_changes: true } })).session_id;
};
const poolOf = (shoal: Shoal, name: string) =>
  shoal.browserPools.create({ name, size: 1, fill_rate_per_minute: 1 }).then(({ id }) => id);

const races: Readonly<Record<string, Race>> = {
  "acquire a browser, delete the pool": {
    prepare: poolOf,
    calls: [
      (shoal, id) => shoal.browserPools.acquire(id, { acquire_timeout_seconds: 1 }),
      (shoal, id) => shoal.browserPools.delete(id, { force: true }),
    ],
    rounds: 10,
  },
  "change a pool, delete it": {
    prepare: poolOf,
    calls: [
      (shoal, id) => shoal.browserPools.update(id, { size: 2 }),
      (shoal, id) => shoal.browserPools.delete(id, { force: true }),
    ],
    rounds: 5,
  },
  "start a browser from a profile, delete the profile": {
    prepare: profileOf,
    calls: [(shoal, id) => shoal.browsers.create({ profile: { id } }), (shoal, id) => shoal.profiles.delete(id)],
    rounds: 8,
  },
  "start two writers of a profile": {
    prepare: profileOf,
    calls: [
      (shoal, id) => shoal.browsers.create({ profile: { id, save_changes: true } }),
      (shoal, id) => shoal.browsers.create({ profile: { id, save_changes: true } }),
    ],
    rounds: 3,
  },
  "clone a profile, delete it": {
    prepare: profileOf,
    calls: [
      (shoal, id, name) => shoal.profiles.clone(id, { name: `${name}-copy` }),
      (shoal, id) => shoal.profiles.delete(id),
    ],
    rounds: 10,
  },
  "import into a profile, delete it": {
    prepare: profileOf,
    calls: [
      (shoal, id) => shoal.profiles.storageState.import(id, { cookies: [], origins: [] }),
      (shoal, id) => shoal.profiles.delete(id),
    ],
    rounds: 10,
  },
  "rename a profile, create one of that name": {
    prepare: profileOf,
    calls: [
      (shoal, id, name) => shoal.profiles.update(id, { name: `${name}-new` }),
      (shoal, _id, name) => shoal.profiles.create({ name: `${name}-new` }),
    ],
    rounds: 10,
  },
  "start two browsers of one name": {
    prepare: (_shoal, name) => Promise.resolve(name),
    calls: [(shoal, id) => shoal.browsers.create({ name: id }), (shoal, id) => shoal.browsers.create({ name: id })],
    rounds: 3,
  },
  "delete a browser twice": {
    prepare: browserOf,
    calls: [(shoal, id) => shoal.browsers.delete(id), (shoal, id) => shoal.browsers.delete(id)],
    rounds: 3,
  },
  "change a browser, delete it": {
    prepare: browserOf,
    calls: [
      (shoal, id) => shoal.browsers.update(id, { tags: { changed: "yes" } }),
      (shoal, id) => shoal.browsers.delete(id),
    ],
    rounds: 3,
  },
  "save a profile, delete its browser": {
    prepare: writerOf,
    calls: [(shoal, id) => shoal.browsers.saveProfile(id), (shoal, id) => shoal.browsers.delete(id)],
    rounds: 5,
  },
  "rotate a key, delete it": {
    prepare: (shoal, name) => shoal.apiKeys.create({ name }).then(({ id }) => id),
    calls: [(shoal, id) => shoal.apiKeys.rotate(id, {}), (shoal, id) => shoal.apiKeys.delete(id)],
    rounds: 10,
  },
};

describe.each(placements.slice(0, 1))("a race table in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("has no internal error", () => {
    let test: TestService & { end(): Promise<void> };
    beforeAll(async () => {
      test = await runService(["--placement", placement, "--profile-checkpoint-seconds", "0", "--max-sessions", "20"]);
    });
    afterAll(() => test.end());

    it.each(Object.keys(races))("%s", async (title) => {
      const race = races[title];
      if (race === undefined) throw new Error(`Unknown race ${title}.`);
      const random = seeded(title);
      const failures: string[] = [];
      for (let round = 0; round < race.rounds * rounds; round += 1) {
        const name = `${title.replace(/\W+/g, "-")}-${String(round)}`;
        const id = await race.prepare(test.shoal, name);
        await Promise.all(
          race.calls.map(async (call) => {
            await delay(random() * 15);
            await call(test.shoal, id, name).catch((error: unknown) => {
              // A call that lost the race is refused with 404 or 409.
              if (!ApiError.isInstance(error) || ![404, 409].includes(error.status))
                failures.push(`round ${String(round)}: ${String(error)}`);
            });
          }),
        );
        for (const { session_id } of (await test.shoal.browsers.list()).items)
          await test.shoal.browsers.delete(session_id).catch(() => undefined);
        for (const pool of (await test.shoal.browserPools.list()).items)
          await test.shoal.browserPools.delete(pool.id, { force: true }).catch(() => undefined);
      }
      expect(failures).toEqual([]);
      await eventually("no session runs", async () => (await test.shoal.browsers.list()).items.length === 0);
    });
  });
});
