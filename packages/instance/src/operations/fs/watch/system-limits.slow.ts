import { describe, expect, it } from "vitest";
import { runLimited, whyNotLimited } from "./testing/limited-program.ts";

const reason = whyNotLimited();
const suite = describe.skipIf(reason !== undefined && process.env.SHOAL_REQUIRE_ALL !== "1");
const title = (text: string): string => (reason === undefined ? text : `${text} (${reason})`);

const prelude = `
  import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
  import { join } from "node:path";
  import { serveWatches } from "./served-watches.ts";
  const print = (value) => console.log(JSON.stringify(value));
  await using served = await serveWatches();
  const at = (path) => join(served.root, path);
  for (let i = 0; i < 10; i++) mkdirSync(at("w/" + i), { recursive: true });
`;

suite(title("a watch above a limit of the system"), () => {
  it("names the setting to raise when watches run out", async () => {
    const printed = await runLimited(
      { settings: { max_inotify_watches: 8 } },
      `${prelude}
      const refused = await served.post({ path: "/w", recursive: true });
      print([refused.status, await refused.json()]);
      await served.start("/w/0");
      `,
    );
    expect(printed).toEqual([
      [
        507,
        expect.objectContaining({
          code: "insufficient_storage",
          message: expect.stringContaining("/proc/sys/fs/inotify/max_user_watches") as unknown,
        }),
      ],
    ]);
  });

  it("names the setting to raise when inotify instances run out", async () => {
    const printed = await runLimited(
      { settings: { max_inotify_instances: 0 } },
      `${prelude}
      const refused = await served.post({ path: "/w" });
      print([refused.status, (await refused.json()).message]);
      `,
    );
    expect(printed).toEqual([[507, expect.stringContaining("/proc/sys/fs/inotify/max_user_instances") as unknown]]);
  });

  it("ends a running watch with the reason when watches run out", async () => {
    const printed = await runLimited(
      { settings: { max_inotify_watches: 20 } },
      `${prelude}
      const id = await served.start("/w");
      for (let i = 0; i < 20; i++) { mkdirSync(at("w/more" + i)); writeFileSync(at("w/more" + i + "/f"), ""); }
      const { frames, refusal } = await served.readOut(id);
      print(frames.length > 0);
      print(refusal);
      print(served.faults.every((fault) => fault.code === "insufficient_storage"));
      `,
    );
    expect(printed).toEqual([true, expect.stringMatching(/507 .*max_user_watches/), true]);
  });
});

suite(title("an unreadable directory"), () => {
  it("is not watched until it is readable, while directories next to it are", async () => {
    const printed = await runLimited(
      { plainUser: true },
      `${prelude}
      chmodSync(at("w/1"), 0o000);
      const refused = await served.post({ path: "/w/1" });
      print([refused.status, (await refused.json()).code]);
      const id = await served.start("/w");
      const reader = await served.read(id);
      writeFileSync(at("w/2/f"), "");
      chmodSync(at("w/1"), 0o700);
      writeFileSync(at("w/1/g"), "");
      await reader.until(({ event }) => event?.name === "g");
      writeFileSync(at("w/1/h"), "");
      print((await reader.until(({ event }) => event?.name === "h")).at(-1).event.path);
      reader.close();
      `,
    );
    expect(printed).toEqual([[403, "permission_denied"], "/w/1/h"]);
  });
});
