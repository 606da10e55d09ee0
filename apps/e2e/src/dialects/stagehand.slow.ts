import { browserbase, getExtensionArchive } from "@browserbasehq/stagehand";
import { eventually } from "@shoal/testkit";
import { Stagehand } from "stagehand-3";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { serveModel } from "../agents/model-server.ts";
import { missingFor } from "../testing/components.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";
import { fillWithStagehand, form, startStagehand } from "../testing/stagehand-form.ts";

const modelKey = "sk-model-key-of-a-user";

let site: Site;
beforeAll(async () => {
  site = await serveSite((_request, response) => response.setHeader("content-type", "text/html").end(form));
});
afterAll(() => site.close());

const missing = missingFor("sandbox");

describe.skipIf(missing !== undefined)(
  `Stagehand with Browserbase${missing === undefined ? "" : ` (skipped, ${missing})`}`,
  () => {
    const test = useService(() => [
      ...["--placement", "sandbox", "--allow-private-hosts", "127.0.0.1", "--dialects", "browserbase"],
      ...["--access-log", "-"],
    ]);

    it("starts a session, acts in it with a model of the user, and leaves nothing", async () => {
      await using model = await serveModel<object>((request) => {
        const elementId = /\[(\d+-\d+)\] textbox: Name/.exec(JSON.stringify(request))?.[1] ?? "";
        const action = { elementId, description: "name", method: "fill", arguments: ["Ann"], twoStep: false };
        return completion(JSON.stringify({ action, elements: [action], twoStep: false }));
      });
      vi.stubEnv("BROWSERBASE_BASE_URL", `${test.service.baseUrl}/browserbase`);
      vi.stubEnv("STAGEHAND_API_URL", `${test.service.baseUrl}/browserbase`);
      const stagehand = new Stagehand({
        env: "BROWSERBASE",
        apiKey: test.service.apiKey,
        verbose: 0,
        model: { modelName: "openai/gpt-4.1-mini", apiKey: modelKey, baseURL: model.baseURL },
      });
      try {
        await stagehand.init();
        const [session, ...others] = (await test.shoal.browsers.list()).items;
        expect(others).toEqual([]);
        expect(session).toMatchObject({ origin: { dialect: "browserbase" }, disconnect_timeout_seconds: 10 });
        const [page] = stagehand.context.pages();
        await page?.goto(site.url);
        await stagehand.act("fill in the name Ann");
        expect(await page?.evaluate("document.querySelector('#name').value")).toBe("Ann");
        expect(JSON.stringify(model.requests)).toContain("fill in the name Ann");
      } finally {
        await stagehand.close();
        vi.unstubAllEnvs();
      }
      await eventually("the session has ended", async () => {
        const { items } = await test.shoal.browsers.list();
        return items.length === 0 ? true : undefined;
      });
      expect(test.service.output()).not.toContain(modelKey);
    });

    const nothingLeft = () =>
      eventually("its session and its extension are gone", async () => {
        const [sessions, extensions] = await Promise.all([test.shoal.browsers.list(), test.shoal.extensions.list()]);
        return sessions.items.length === 0 && extensions.items.length === 0;
      });
    const service = () => ({ apiKey: test.service.apiKey, baseUrl: `${test.service.baseUrl}/browserbase` });

    it("Stagehand 4 launches a session with its extension, observes, and leaves nothing", async () => {
      const browser = await browserbase.launch({ ...service(), keepAlive: false });
      const [session, ...others] = (await test.shoal.browsers.list()).items;
      expect(others).toEqual([]);
      expect(session).toMatchObject({
        origin: { dialect: "browserbase", metadata: { stagehand: "true" } },
      });
      await fillWithStagehand(browser, site.url);
      await browser.close();
      await nothingLeft();
    });

    it("Stagehand 4 connects to a session that exists", async () => {
      await test.shoal.extensions.upload({ name: "stagehand", file: Uint8Array.from(await getExtensionArchive()) });
      const { session_id: sessionId } = await test.shoal.browsers.create({ extensions: [{ name: "stagehand" }] });
      const browser = await browserbase.connect({ ...service(), sessionId });
      const stagehand = await startStagehand(browser);
      const [page] = await browser.context.pages();
      await page?.goto(site.url);
      expect(await page?.title()).toBe("form");
      await stagehand.close();
      await browser.close();
      await test.shoal.extensions.delete("stagehand");
      await nothingLeft();
    });
  },
);

/** An answer in the form of the API for responses. */
function completion(text: string): object {
  return {
    id: "resp_1",
    object: "response",
    created_at: 1,
    status: "completed",
    model: "scripted",
    output: [
      {
        id: "msg_1",
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text, annotations: [] }],
      },
    ],
    usage: {
      input_tokens: 1,
      output_tokens: 1,
      total_tokens: 2,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  };
}
