import { eventuallyPasses } from "@shoal/testkit";
import { expect, it } from "vitest";
import { describeChromium } from "../../testing/chromium.ts";
import { cdpClient, runInstance, type RunningInstance } from "../../testing/run-instance.ts";

interface Answer {
  readonly result: {
    readonly targetInfos: { readonly type: string; readonly targetId: string }[];
    readonly sessionId: string;
    readonly result: { readonly value: unknown };
  };
}

const seen = "[innerWidth, innerHeight, screen.width >= innerWidth, matchMedia(`(width: ${innerWidth}px)`).matches]";

async function pagesOf(client: ReturnType<typeof cdpClient>): Promise<string[]> {
  const { result } = (await client.send("Target.getTargets")) as unknown as Answer;
  return result.targetInfos.filter(({ type }) => type === "page").map(({ targetId }) => targetId);
}

async function evaluate(
  client: ReturnType<typeof cdpClient>,
  targetId: string | undefined,
  expression: string,
): Promise<unknown> {
  const attached = (await client.send("Target.attachToTarget", { targetId, flatten: true })) as unknown as Answer;
  const answer = (await client.send(
    "Runtime.evaluate",
    { expression, returnByValue: true, userGesture: true },
    attached.result.sessionId,
  )) as unknown as Answer;
  await client.send("Target.detachFromTarget", { sessionId: attached.result.sessionId });
  return answer.result.result.value;
}

function change(instance: RunningInstance, viewport: object, force = false): ReturnType<RunningInstance["call"]> {
  return instance.call("POST", "/_instance/viewport", JSON.stringify({ viewport, force }));
}

describeChromium("the viewport of a running session", (chromium) => {
  it("changes in every page, including tabs and windows opened later", async () => {
    await using instance = await runInstance({ chromium });
    await instance.ready();
    const client = cdpClient(await instance.connect());
    expect(await instance.assign({ viewport: { width: 1000, height: 700 } })).toBe(200);
    const [first] = await pagesOf(client);
    expect(await change(instance, { width: 640, height: 480 })).toMatchObject({ status: 200, text: '{"replays":[]}' });
    await eventuallyPasses(async () => {
      expect(await evaluate(client, first, seen)).toEqual([640, 480, true, true]);
    });
    expect(await evaluate(client, first, "[screen.width, screen.availWidth]")).toEqual([640, 640]);

    await client.send("Target.createTarget", { url: "about:blank" });
    await evaluate(client, first, "void open('about:blank')");
    await eventuallyPasses(async () => {
      expect(await pagesOf(client)).toHaveLength(3);
    });
    for (const page of await pagesOf(client)) {
      await eventuallyPasses(async () => {
        expect(await evaluate(client, page, seen)).toEqual([640, 480, true, true]);
      });
    }

    expect((await change(instance, { width: 1300, height: 900, refresh_rate: 30 })).status).toBe(200);
    for (const page of await pagesOf(client)) {
      // A background tab is drawn and sized when it comes to the front.
      await client.send("Target.activateTarget", { targetId: page });
      await eventuallyPasses(async () => {
        expect(await evaluate(client, page, seen)).toEqual([1300, 900, true, true]);
      });
    }
    for (const wrong of [{ width: 0, height: 10 }, { width: 10 }, { width: 10, height: 16_385 }])
      expect((await change(instance, wrong)).status).toBe(400);
  });

  it("does not change during a recording unless the recording may continue as another one", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ viewport: { width: 800, height: 600 } });
    const recordings = async () =>
      JSON.parse((await instance.call("GET", "/replays")).text) as { replay_id: string; finished_at: string | null }[];
    expect(
      (await instance.call("POST", "/replays", JSON.stringify({ framerate: 5, max_duration_in_seconds: 600 }))).status,
    ).toBe(201);
    const refused = await change(instance, { width: 640, height: 480 });
    expect(refused.status).toBe(409);
    expect(JSON.parse(refused.text)).toMatchObject({
      code: "conflict",
      message: expect.stringContaining("force: true") as unknown,
    });
    const [old] = await recordings();
    expect(old?.finished_at).toBeNull();

    const forced = await change(instance, { width: 640, height: 480 }, true);
    expect(forced.status).toBe(200);
    const { replays } = JSON.parse(forced.text) as { replays: { replay_id: string }[] };
    expect(replays).toHaveLength(1);
    const after = await recordings();
    expect(after.map(({ replay_id, finished_at }) => [replay_id, finished_at === null])).toEqual([
      [old?.replay_id, false],
      [replays[0]?.replay_id, true],
    ]);
    const client = cdpClient(await instance.connect());
    const [page] = await pagesOf(client);
    await eventuallyPasses(async () => {
      expect(await evaluate(client, page, seen)).toEqual([640, 480, true, true]);
    });
  });
});
