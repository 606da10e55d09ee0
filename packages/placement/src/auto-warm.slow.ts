import { eventuallyPasses } from "@shoal/testkit";
import { openPlacement, sessionFolders } from "./testing/placements.ts";
import { describeWith, testedKinds } from "./testing/requirements.ts";
import { expect, it } from "vitest";

for (const kind of testedKinds())
  describeWith(["linux", "chromium"], `a ${kind} placement with warm browsers by demand`, () => {
    it("serves the second burst from warm browsers, and removes every folder at the end", async () => {
      const { placement, sessionsDir } = await openPlacement({ kind, warm: { max: 4 } });
      await placement.warmReady();
      expect(placement.warm()).toEqual({ target: 1, ready: 1, starting: 0, hits: 0, misses: 0 });

      const burst = async (name: string) => {
        const instances = await Promise.all(
          ["a", "b", "c", "d", "e", "f"].map((each) =>
            placement.acquire({ session_id: `${name}${each}`, timeout_seconds: 3_600 }),
          ),
        );
        const counts = placement.warm();
        await Promise.all(instances.map((instance) => instance.stop()));
        return counts;
      };
      expect(await burst("first")).toMatchObject({ target: 4, hits: 1, misses: 5 });
      await eventuallyPasses(() => {
        expect(placement.warm()).toMatchObject({ ready: 4, starting: 0 });
      });
      expect(await sessionFolders(sessionsDir)).toHaveLength(4);
      expect(await burst("second")).toMatchObject({ target: 4, hits: 5, misses: 7 });
      await placement.close();
      expect(await sessionFolders(sessionsDir)).toEqual([]);
    });
  });
