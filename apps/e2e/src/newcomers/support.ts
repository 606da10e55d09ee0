import { Shoal } from "@shoal/client";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { openConsole, signIn } from "../console/open-console.ts";
import { launchPerson } from "../testing/person.ts";
import type { Way } from "./way.ts";

const checkout = `data:text/html,${encodeURIComponent(
  `<title>Checkout</title><h1>Payment failed</h1><script>console.error("payment failed: the server answered 503")</script>`,
)}`;

/** A person of support with an address and a key that only reads: what happened in an ended session? */
export async function supportPerson(way: Way): Promise<void> {
  const { api_key, base_url } = await way.serve("./shoal serve");
  const shoal = new Shoal({ baseUrl: base_url, apiKey: api_key });
  const [viewer, operator] = await Promise.all(
    (["viewer", "operator"] as const).map((role) => shoal.apiKeys.create({ name: `support ${role}`, role })),
  );
  {
    await using browser = await shoal.browsers.create({ name: "checkout-agent" });
    const connected = await chromium.connectOverCDP(browser.cdp_ws_url);
    await connected.contexts()[0]?.pages()[0]?.goto(checkout);
    await connected.close();
  }
  const person = await launchPerson();
  try {
    const reader = await way.step("the console opens", () => openConsole(person, base_url));
    await way.step("sign in with a key that only reads", () => signIn(reader.page, viewer?.key ?? ""));
    await way.step("find the ended session", () => findSession(reader.page));
    await way.step("why it ended, and its last picture", async () => {
      await reader.page.getByText(/^Ended by a request with the API key/).waitFor();
      await reader.page.getByRole("img", { name: "The page when the session ended" }).waitFor();
    });
    await way.step("nothing that the key may not do is on offer", async () => {
      await expectAbsent(reader.page, ["Console", "Network", "Start another"]);
      await reader.page.goto(`${base_url}/console/`);
      await reader.page.getByRole("heading", { name: "Home" }).waitFor();
      await expectAbsent(reader.page, ["Start"]);
    });
    const helper = await openConsole(person, base_url);
    await way.step("sign in with a key that may read traffic", () => signIn(helper.page, operator?.key ?? ""));
    await findSession(helper.page);
    await way.step("its console lines", async () => {
      await helper.page.getByRole("tab", { name: "Console" }).click();
      await helper.page.getByText("payment failed: the server answered 503").first().waitFor();
    });
    await way.step("its requests", async () => {
      await helper.page.getByRole("tab", { name: "Network" }).click();
      await helper.page.getByText("Checkout").or(helper.page.getByText("data:text/html")).first().waitFor();
    });
    const problems = [...reader.problems, ...helper.problems];
    await way.step("the pages report no error", () =>
      problems.length === 0 ? Promise.resolve() : Promise.reject(new Error(problems.join("\n"))),
    );
  } finally {
    for (const [place, page] of person
      .contexts()
      .flatMap((context) => context.pages())
      .entries())
      await page.screenshot({ path: join(way.home, `${String(place)}.png`) });
    await person.close();
  }
}

async function findSession(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Sessions" }).first().click();
  await page.getByText("Ended", { exact: true }).first().click();
  await page.getByRole("link", { name: "checkout-agent" }).click();
  await page.getByRole("heading", { name: "checkout-agent" }).waitFor();
}

async function expectAbsent(page: Page, names: readonly string[]): Promise<void> {
  for (const name of names)
    if (await page.getByRole("main").getByText(name, { exact: true }).first().isVisible())
      throw new Error(`${name} is on offer.`);
}
