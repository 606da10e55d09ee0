import { examineHost } from "@shoal/placement";
import axe from "axe-core";
import { type Browser, chromium, type Page, type Route } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import { hostileTexts, type SignInState, signInStates } from "../testing/sign-in-states.ts";

const { chromium: installed } = await examineHost();
const large = { width: 1280, height: 720 };
const phone = { width: 320, height: 568 };
const pictures = process.env.SHOAL_TEST_PICTURES;

let person: Browser;
const test = useService();
beforeAll(async () => {
  person = await chromium.launch({
    executablePath: installed?.executable ?? "",
    chromiumSandbox: process.getuid?.() !== 0,
  });
});
afterAll(() => person.close());

interface Opened {
  readonly page: Page;
  /** Bodies of submitted answers. */
  readonly submitted: unknown[];
  readonly show: (state: SignInState) => void;
}

const isJson = { contentType: "application/json" };

/** The page of the service, with states instead of a login. */
async function open(
  state: SignInState,
  {
    query = "",
    refusal,
    ...options
  }: {
    readonly query?: string;
    readonly refusal?: { readonly status: number; readonly body: unknown };
  } & NonNullable<Parameters<Browser["newPage"]>[0]> = {},
): Promise<Opened> {
  const page = await person.newPage(options);
  let shown = state;
  const submitted: unknown[] = [];
  const base = `${test.service.baseUrl}/auth/connections/c1`;
  const answer = (path: string, reply: (route: Route) => Promise<void>) => page.route(base + path, reply);
  await answer("/exchange", (route) => route.fulfill({ json: { invocation_id: "f1", jwt: "eyJ.x.y" }, ...isJson }));
  await answer("/events", (route) => route.fulfill({ status: 503, body: "{}", ...isJson }));
  await answer("/submit", (route) => {
    submitted.push(route.request().postDataJSON());
    return refusal === undefined
      ? route.fulfill({ status: 202, json: { accepted: true } })
      : route.fulfill({ status: refusal.status, json: refusal.body });
  });
  await answer("/cancel", (route) => {
    shown = signInStates.canceled;
    return route.fulfill({ status: 204 });
  });
  await answer("", (route) => route.fulfill({ json: shown }));
  await page.goto(`${test.service.baseUrl}/auth/sign-in/c1?code=one${query}`);
  await page.locator("#site bdi").waitFor();
  return {
    page,
    submitted,
    show(next) {
      shown = next;
    },
  };
}

async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}

const widthOf = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth);

it.each(Object.entries(signInStates))(
  "shows %s without problems for assistive technology, in light and dark, also on a phone",
  async (name, state) => {
    const { page } = await open(state, { query: "&success_url=https://shop.example/done" });
    await expect.poll(() => page.locator("h2").textContent()).not.toBe("");
    for (const [shape, viewport] of [
      ["", large],
      ["-phone", phone],
    ] as const) {
      await page.setViewportSize(viewport);
      await expect.poll(() => widthOf(page)).toBe(viewport.width);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await expect.poll(() => violationsOf(page), { message: colorScheme + shape }).toEqual([]);
        if (pictures !== undefined) await page.screenshot({ path: `${pictures}/${name}-${colorScheme}${shape}.png` });
      }
    }
    await page.close();
  },
);

it("tells the browser what each field is for", async () => {
  const attributesOf = (page: Page) =>
    page
      .locator("input")
      .evaluateAll((inputs) =>
        (inputs as HTMLInputElement[]).map(({ autocomplete, inputMode, type }) => [type, autocomplete, inputMode]),
      );
  const expected = {
    login: [
      ["email", "username", "email"],
      ["password", "current-password", ""],
    ],
    code: [["text", "one-time-code", "numeric"]],
    newPassword: [
      ["password", "new-password", ""],
      ["password", "new-password", ""],
      ["text", "off", ""],
    ],
  } as const;
  for (const name of ["login", "code", "newPassword"] as const) {
    const { page } = await open(signInStates[name]);
    await expect.poll(() => attributesOf(page)).toEqual(expected[name]);
    await page.close();
  }
});

it("is used with the keyboard alone, and moves the focus with the question", async () => {
  const { page, show, submitted } = await open(signInStates.login);
  const focused = () =>
    page.evaluate(() => {
      const focus = document.activeElement;
      return focus?.id === "" ? focus.textContent : focus?.id;
    });
  await expect.poll(focused).toBe("field-0");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator("#field-0-error").textContent()).toBe("Fill in E-mail address.");
  await page.keyboard.type("ada@shop.example");
  await page.keyboard.press("Tab");
  await page.keyboard.type("secret");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  await expect.poll(() => page.locator("#field-1").getAttribute("type")).toBe("text");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await expect
    .poll(() => submitted)
    .toEqual([{ interaction_id: "q1", field_values: { email: "ada@shop.example", password: "secret" } }]);
  await expect.poll(() => page.locator("h2").textContent()).toBe("Waiting for shop.example…");
  await expect.poll(() => page.locator("#status").textContent()).toBe("Waiting for shop.example…");
  await expect.poll(focused).toBe("heading");
  show({ ...signInStates.factors, interaction_id: "q2" });
  await expect.poll(focused).toBe("heading");
  await expect.poll(() => page.locator(".choice").count()).toBe(3);
  for (const _button of [1, 2, 3]) await page.keyboard.press("Tab");
  await expect.poll(focused).toBe("I have none of these");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await expect.poll(() => submitted[1]).toEqual({ interaction_id: "q2", selected_choice_id: "push" });
  show({ ...signInStates.code, interaction_id: "q3" });
  await expect.poll(focused).toBe("field-0");
  await page.close();
});

it("asks again after a refused answer, and keeps the text of an unchanged question", async () => {
  const refusal = { status: 422, body: { code: "bad_request", message: "The login waits for no answer." } };
  const { page } = await open(signInStates.code, { refusal });
  await page.locator("#field-0").fill("12");
  await page.waitForResponse((answer) => answer.url().endsWith("/c1"));
  await page.waitForResponse((answer) => answer.url().endsWith("/c1"));
  await expect.poll(() => page.locator("#field-0").inputValue()).toBe("12");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator("#problem").textContent()).toContain("The login waits for no answer.");
  await expect.poll(() => page.locator("#field-0").inputValue()).toBe("");
  await page.close();
});

it("shows hostile texts of a site as texts", async () => {
  for (const [name, text] of Object.entries(hostileTexts)) {
    const state: SignInState = {
      ...signInStates.login,
      profile_name: text,
      website_error: text,
      fields: [{ id: "x", ref: "x", type: "password", label: text, hint: text, reason: "rejected" }],
      choices: [{ id: "y", type: "other", label: text, description: text, context: text }],
    };
    const { page } = await open(state, { viewport: phone });
    await expect.poll(() => page.title(), { message: name }).toBe("Sign in to shop.example");
    await expect.poll(() => widthOf(page), { message: name }).toBe(phone.width);
    expect(await page.locator("img, #view script").count()).toBe(0);
    await expect.poll(() => page.locator("button[type=submit]").textContent()).toBe("Continue");
    if (pictures !== undefined) await page.screenshot({ path: `${pictures}/hostile-${name}.png`, fullPage: true });
    await page.close();
  }
});

it("cancels the login", async () => {
  const { page } = await open(signInStates.login, { query: "&error_url=https://shop.example/failed?x=1" });
  await page.getByRole("button", { name: "Cancel this sign-in" }).click();
  await expect.poll(() => page.locator("h2").textContent()).toBe("The sign-in was cancelled");
  await expect
    .poll(() => page.locator("a.main").getAttribute("href"))
    .toBe("https://shop.example/failed?x=1&code=canceled&message=The+sign-in+was+cancelled");
  await page.close();
});

it("names the target before it leaves, and passes on the result", async () => {
  const open1 = await open(signInStates.login, { query: "&success_url=https://shop.example:8443/done?a=1%23b" });
  await expect
    .poll(() => open1.page.locator("#notes").textContent())
    .toContain("After signing in, you continue to shop.example:8443.");
  open1.show(signInStates.success);
  await expect.poll(() => open1.page.locator("a.main").textContent()).toBe("Continue to shop.example:8443");
  await expect
    .poll(() => open1.page.locator("a.main").getAttribute("href"))
    .toBe("https://shop.example:8443/done?a=1&profile_name=ada&domain=shop.example#b");
  await open1.page.close();
  const failed = await open(signInStates.failed, { query: "&error_url=myapp://back" });
  await expect.poll(() => failed.page.locator("a.main").textContent()).toBe("Go back to the app “myapp”");
  await expect
    .poll(() => failed.page.locator("a.main").getAttribute("href"))
    .toBe("myapp://back?code=credentials_invalid&message=The+site+refused+the+password.");
  await failed.page.close();
});

it.each([
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  "java\nscript:alert(1)",
  "\u0001javascript:alert(1)",
  " javascript:alert(1)",
  "javascript://shop.example/%0aalert(1)",
  "data:text/html,<script>alert(1)</script>",
  "blob:https://shop.example/1",
  "vbscript:msgbox(1)",
  "file:///etc/passwd",
  "filesystem:https://shop.example/x",
  "view-source:https://shop.example",
  "intent://x#Intent;scheme=http;end",
  "ms-msdt:/id",
  "about:blank",
  "//evil.example",
  "/relative",
  "https://shop.example@evil.example/",
  "not an address",
])("does not leave to %j", async (target) => {
  const both = `&success_url=${encodeURIComponent(target)}&error_url=${encodeURIComponent(target)}`;
  const { page, show } = await open(signInStates.discovering, { query: both });
  await expect.poll(() => page.locator("#notes").textContent()).toContain("not allowed");
  for (const state of [signInStates.success, signInStates.failed]) {
    show(state);
    await page.reload();
    await expect.poll(() => page.locator("h2").textContent()).toMatch(/signed in|did not work/);
    expect(await page.locator("a").count()).toBe(0);
  }
  await page.close();
});

it("takes the code out of the address, and survives a reload", async () => {
  const { page } = await open(signInStates.code, { query: "&success_url=https://shop.example/" });
  await expect
    .poll(() => page.url())
    .toBe(`${test.service.baseUrl}/auth/sign-in/c1?success_url=https%3A%2F%2Fshop.example%2F`);
  await page.unroute(`${test.service.baseUrl}/auth/connections/c1/exchange`);
  await page.reload();
  await expect.poll(() => page.locator("h2").textContent()).toBe("Enter the code");
  await page.close();
});

it("says what is wrong with a link", async () => {
  const page = await person.newPage();
  await page.goto(`${test.service.baseUrl}/auth/sign-in/c1`);
  await expect.poll(() => page.locator("h2").textContent()).toBe("This link is invalid");
  await page.goto(`${test.service.baseUrl}/auth/sign-in/c1?code=made-up`);
  await expect.poll(() => page.locator("h2").textContent()).toBe("This link is invalid");
  await expect.poll(() => violationsOf(page)).toEqual([]);
  for (const [reason, title] of [
    ["used", "This link was used already"],
    ["expired", "The time is over"],
    ["ended", "This sign-in has ended"],
  ] as const) {
    await page.route(`${test.service.baseUrl}/auth/connections/c1/exchange`, (route) =>
      route.fulfill({ status: 410, json: { code: "link_expired", message: "gone", details: [{ code: reason }] } }),
    );
    await page.goto(`${test.service.baseUrl}/auth/sign-in/c1?code=${reason}`);
    await expect.poll(() => page.locator("h2").textContent()).toBe(title);
  }
  await page.close();
  const { page: ended } = await open(signInStates.code);
  await ended.route(`${test.service.baseUrl}/auth/connections/c1`, (route) =>
    route.fulfill({ status: 401, json: { code: "unauthorized", message: "ended" } }),
  );
  await expect.poll(() => ended.locator("h2").textContent()).toBe("This sign-in has ended");
  await ended.close();
});

it("reports a lost connection, and goes on afterwards", async () => {
  const { page, show } = await open(signInStates.code);
  const get = `${test.service.baseUrl}/auth/connections/c1`;
  await page.route(get, (route) => route.abort());
  await expect.poll(() => page.locator("#offline").textContent()).toBe("No connection. Trying again…");
  await page.unroute(get);
  await page.route(get, (route) => route.fulfill({ json: signInStates.success }));
  show(signInStates.success);
  await expect.poll(() => page.locator("h2").textContent()).toBe("You are signed in");
  await expect.poll(() => page.locator("#offline").textContent()).toBe("");
  await page.close();
});
