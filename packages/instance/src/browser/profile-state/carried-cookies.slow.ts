import { describe, expect, it } from "vitest";
import { findChromium } from "../../testing/chromium.ts";
import { cdpClient, runInstance } from "../../testing/run-instance.ts";

const relaunches = 10;
const url = "http://site.example/";
const future = 4_000_000_000;

type Client = ReturnType<typeof cdpClient>;

async function cookiesOf(client: Client): Promise<Record<string, string>> {
  const { result } = (await client.send("Storage.getCookies")) as {
    result: { cookies: { name: string; value: string; session: boolean }[] };
  };
  return Object.fromEntries(
    result.cookies.map(({ name, value, session }) => [name, session ? `${value} (session)` : value]),
  );
}

describe.each([
  ["headless shell", "headless_shell"],
  ["full Chromium", "chrome"],
] as const)("a relaunched %s", (_title, kind) => {
  const executable = findChromium(kind);
  const isSkipped = executable === undefined && process.env.SHOAL_REQUIRE_ALL !== "1";

  it.skipIf(isSkipped)("has the cookies that were set and deleted just before each of ten relaunches", async () => {
    await using instance = await runInstance({ chromium: { kind, executable: executable ?? "missing" } });
    await instance.ready();
    expect(await instance.assign({})).toBe(200);
    const kept = new Map<string, string>();
    for (let round = 0; round < relaunches; round++) {
      const client = cdpClient(await instance.connect());
      await client.send("Storage.setCookies", {
        cookies: [
          { name: `kept-${String(round)}`, value: "a", url, expires: future },
          { name: "replaced", value: String(round), url, expires: future },
          { name: "session", value: String(round), url },
          { name: `deleted-${String(round + 1)}`, value: "a", url, expires: future },
          { name: `deleted-${String(round)}`, value: "", url, expires: 1 },
        ],
      });
      kept.set(`kept-${String(round)}`, "a");
      kept.set("replaced", String(round));
      kept.set("session", `${String(round)} (session)`);
      kept.set(`deleted-${String(round + 1)}`, "a");
      kept.delete(`deleted-${String(round)}`);
      const expected = Object.fromEntries(kept);
      expect(await cookiesOf(client)).toEqual(expected);

      expect(await instance.assign({ launch: { again: true } })).toBe(200);
      await client.closed;
      const next = cdpClient(await instance.connect());
      expect(await cookiesOf(next), `after relaunch ${String(round)}`).toEqual(expected);
    }
  });
});
