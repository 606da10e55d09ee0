import { Shoal } from "@shoal/client";
import { expect, it } from "vitest";
import { startFakeShoal } from "../index.ts";

it("sends the log lines since a moment, and the state at the end", async () => {
  await using fake = await startFakeShoal();
  fake.addApp("shop", {
    print(_payload, context) {
      context.log("one");
      context.log("two");
    },
  });
  const shoal = new Shoal({ apiKey: fake.apiKey, baseUrl: fake.baseUrl });
  const source = { type: "github", url: "https://github.com/me/shop", ref: "main", entrypoint: "a.ts" } as const;
  await shoal.deployments.wait((await shoal.deployments.create({ source })).id);
  const { id } = await shoal.invocations.create({ app_name: "shop", action_name: "print" });
  const linesOf = async (since?: string): Promise<string[]> => {
    const texts: string[] = [];
    for await (const event of shoal.invocations.follow(id, since === undefined ? {} : { since })) {
      if (event.event === "log") texts.push(event.message);
      else texts.push(event.event);
    }
    return texts.filter((text, index) => text !== texts[index - 1]);
  };
  for (const since of [undefined, "", "1h", "2020-01-01T00:00"])
    expect(await linesOf(since)).toEqual(["one", "two", "invocation_state"]);
  expect(await linesOf("2100-01-01")).toEqual(["invocation_state"]);
  expect((await shoal.invocations.list({ since: "2100-01-01" })).items).toEqual([]);
  expect((await shoal.invocations.list({ since: "1h" })).items.map((each) => each.id)).toEqual([id]);
});
