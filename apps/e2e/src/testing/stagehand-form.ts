import { type ClientLLM, Stagehand } from "@browserbasehq/stagehand";
import { expect } from "vitest";

export const form = `<!doctype html><title>form</title>
<label>Name <input id="name"></label> <button onclick="document.title = 'hello ' + document.querySelector('#name').value">Greet</button>`;

/** A model that finds the text box in the outline that Stagehand sends. */
const generate: ClientLLM["generate"] = ({ messages }) => {
  const elementId = /\[(\d+-\d+)\] textbox: Name/.exec(JSON.stringify(messages))?.[1] ?? "";
  return Promise.resolve({
    role: "assistant",
    content: { type: "text", text: "" },
    outputFormat: "json_schema",
    structuredContent: { elements: [{ elementId, description: "name", method: "fill", arguments: [] }] },
  });
};

type StagehandBrowser = Parameters<typeof Stagehand.create>[0]["browser"];

export function startStagehand(browser: StagehandBrowser): Promise<Stagehand> {
  return Stagehand.create({ browser, logging: { level: "off" }, model: { generate } });
}

/** Fills the form with Stagehand's locators and its model. */
export async function fillWithStagehand(browser: StagehandBrowser, url: string): Promise<void> {
  const stagehand = await startStagehand(browser);
  const [page] = await browser.context.pages();
  await page?.goto(url);
  const { data: found } = await stagehand.observe("find the name");
  await page?.locator(found[0]?.selector ?? "").fill("Ann");
  await page?.locator("button").click();
  expect(await page?.title()).toBe("hello Ann");
  await stagehand.close();
}
