import { startFakeShoal } from "./index.ts";
import { Shoal } from "@shoal/client";
import { expect, it } from "vitest";

it("completes a handoff of the fake as the person does", async () => {
  await using fake = await startFakeShoal();
  const shoal = new Shoal({ apiKey: fake.apiKey, baseUrl: fake.baseUrl });
  const browser = await shoal.browsers.create();
  const handoff = await browser.handoff.request({ message: "Please sign in.", label: "Ana" });
  const done = handoff.done();
  await expect(browser.handoff.request({ message: "again" })).rejects.toMatchObject({ code: "handoff_active" });
  await fake.completeHandoff(browser.session_id, "the code is 4711");
  expect(await done).toMatchObject({ status: "released", note: "the code is 4711", released_by: "Ana" });
  await expect(fake.completeHandoff(browser.session_id)).rejects.toThrow("has no active handoff");
  const second = await browser.handoff.request({ message: "Please pay." });
  await browser.delete();
  expect(await second.done()).toMatchObject({ status: "canceled" });
});
