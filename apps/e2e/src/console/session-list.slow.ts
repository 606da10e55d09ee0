import { openSecondDatabase } from "@shoal/database";
import { eventually } from "@shoal/testkit";
import { join } from "node:path";
import { expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import { phone, usePerson, violationsOf, widthOf } from "./open-console.ts";

const test = useService();
const person = usePerson(test);
const total = 10_000;
const chunk = 1000;

/** Ended sessions in the database of the service. */
async function insertSessions(): Promise<void> {
  const database = await openSecondDatabase({
    dataDir: join(test.folder, "database"),
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  try {
    const { id: projectId } = await database.query.selectFrom("projects").select("id").executeTakeFirstOrThrow();
    for (let from = 0; from < total; from += chunk)
      await database.query
        .insertInto("sessions")
        .values(
          Array.from({ length: chunk }, (_, place) => {
            const number = String(from + place).padStart(5, "0");
            const at = new Date(Date.UTC(2026, 0, 1) - (from + place) * 1000);
            return {
              id: `many${number}`,
              project_id: projectId,
              name: `order-${number}`,
              placement: "sandbox",
              server_id: "gone",
              created_at: at.toISOString(),
              timeout_seconds: 60,
              headless: true,
              stealth: false,
              viewport: null,
              start_url: null,
              ended_at: at.toISOString(),
              ended_reason: "deleted",
              files_stored: true,
            };
          }),
        )
        .execute();
  } finally {
    await database.close();
  }
}

it("shows pictures of running sessions without keeping the sessions alive", async () => {
  const { session_id: id } = await test.shoal.browsers.create({
    name: "red-page",
    timeout_seconds: 600,
    start_url: "data:text/html,<body style='background:red'>",
    telemetry: { browser: { control: { enabled: true } } },
  });
  const expiry = async () => {
    const { expires_at } = await test.shoal.browsers.get(id);
    return expires_at;
  };
  await eventually("it is idle", async () => (await expiry()) !== undefined);
  const before = await expiry();
  const { page, problems } = await person.openSignedIn("sessions?view=grid");
  const asked: number[] = [];
  page.on("request", (request) => request.url().endsWith("/screenshot") && asked.push(Date.now()));
  const picture = page.getByRole("listitem").filter({ hasText: "red-page" }).locator("img");
  const shown = () =>
    picture.evaluate((image: HTMLImageElement) => {
      const context = new OffscreenCanvas(1, 1).getContext("2d");
      context?.drawImage(image, 0, 0, 1, 1);
      const [red = 0, green = 0] = context?.getImageData(0, 0, 1, 1).data ?? [];
      return { isRed: red > 200 && green < 60, width: image.naturalWidth };
    });
  await eventually("the picture is there", async () => (await shown()).isRed);
  expect((await shown()).width).toBeLessThanOrEqual(400);
  await expect.poll(() => asked.length).toBeGreaterThan(0);
  expect(await expiry()).toBe(before);
  const { items } = await test.shoal.browsers.telemetry.events(id, { since: "10m", limit: 100 });
  expect(items.map(({ event }) => JSON.stringify(event.data)).filter((data) => data.includes("screenshot"))).toEqual(
    [],
  );
  await expect.poll(() => violationsOf(page)).toEqual([]);
  // The view is in the address.
  await page.getByRole("img", { name: "List" }).click();
  await page.getByRole("row", { name: /red-page/ }).waitFor();
  expect(new URL(page.url()).searchParams.has("view")).toBe(false);
  await page.close();
  expect(problems).toEqual([]);
  await test.shoal.browsers.screenshot(id).then((shot) => shot.stream.cancel());
  await eventually("a picture without the header counts as use", async () => (await expiry()) !== before);
  await test.shoal.browsers.delete(id);
});

it("scrolls through 10,000 sessions, draws the visible ones, and reads pages", async () => {
  await insertSessions();
  const { page, problems } = await person.openSignedIn("sessions?status=deleted");
  const pages: string[] = [];
  page.on("request", (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname === "/browsers") pages.push(searchParams.get("offset") ?? "0");
  });
  await page.getByRole("row").nth(5).waitFor();
  const rows = page.getByRole("rowgroup", { name: "Rows" });
  await eventually("the last session is there", async () => {
    await rows.evaluate((element) => {
      element.scrollTop = element.scrollHeight;
    });
    return (await page.getByRole("link", { name: "order-09999" }).count()) > 0;
  });
  expect(await page.getByRole("row").count()).toBeLessThan(60);
  expect(new Set(pages).size).toBeGreaterThanOrEqual(total / 100 - 1);
  await rows.evaluate((element) => {
    element.scrollTop = 0;
  });
  await page.getByRole("link", { name: "order-00000" }).waitFor();
  await page.getByRole("textbox", { name: /^Search/ }).fill("order-07777");
  await expect.poll(() => page.getByRole("row").count()).toBe(2);
  await expect.poll(() => violationsOf(page)).toEqual([]);
  expect(problems).toEqual([]);
  await page.close();
});

it.each(["light", "dark"] as const)("shows cards on a phone in %s colors", async (colorScheme) => {
  const { page, problems } = await person.openSignedIn("sessions?status=deleted&view=grid", {
    colorScheme,
    viewport: phone,
  });
  const cards = page.getByRole("list", { name: "Sessions" }).getByRole("listitem");
  await cards.first().waitFor();
  expect(await cards.count()).toBeLessThan(20);
  await expect.poll(() => widthOf(page)).toBe(phone.width);
  await expect.poll(() => violationsOf(page)).toEqual([]);
  expect(problems).toEqual([]);
  await page.close();
});

it("starts, sorts, finds and ends sessions", async () => {
  const { page, problems } = await person.openSignedIn("sessions");
  await page.getByRole("button", { name: "New session" }).click();
  const dialog = page.getByRole("dialog", { name: "New session" });
  await dialog.getByLabel("Start page").fill("data:text/html,<title>Till</title>");
  await dialog.getByLabel("Name").fill("till 1");
  await dialog.getByRole("button", { name: "Start" }).click();
  // The refusal is at its field.
  await expect.poll(() => dialog.getByLabel("Name").getAttribute("aria-invalid")).toBe("true");
  await dialog.getByLabel("Name").fill("till-1");
  await dialog.getByRole("button", { name: "Start" }).click();
  await page.getByRole("heading", { name: "till-1" }).waitFor();
  await page.getByRole("button", { name: "Connect" }).click();
  const connect = page.getByRole("dialog", { name: "Connect a program" });
  await expect.poll(() => connect.getByLabel("Client").evaluate((select) => select.matches(":focus"))).toBe(true);
  await connect.getByLabel("Client").selectOption("Puppeteer");
  await connect.getByText("puppeteer.connect").waitFor();
  await page.keyboard.press("Escape");
  await connect.waitFor({ state: "detached" });

  const { browsers } = test.shoal;
  for (const name of ["till-10", "till-2"]) await browsers.create({ name, timeout_seconds: 600 });
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog", { name: "Go to" });
  await palette.getByRole("option", { name: "Audit log" }).waitFor();
  await palette.getByRole("textbox").fill("TILL-10");
  await palette.getByRole("option", { name: /till-10/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "till-10" }).waitFor();
  await page.keyboard.press("Control+k");
  await palette.getByRole("textbox").fill("sess");
  await palette.getByRole("option", { name: "Sessions" }).waitFor();
  await page.keyboard.press("Enter");

  await page.getByRole("button", { name: "Go to a page or a session" }).click();
  await palette.waitFor();
  await page.keyboard.press("Escape");
  await palette.waitFor({ state: "detached" });

  const names = () => page.getByRole("link", { name: /^till-/ }).allTextContents();
  await expect.poll(names).toEqual(["till-2", "till-10", "till-1"]);
  await page.getByRole("button", { name: "Session", exact: true }).click();
  await expect.poll(names).toEqual(["till-1", "till-2", "till-10"]);
  expect(new URL(page.url()).searchParams.get("sort")).toBe("name");
  await expect
    .poll(() => page.getByRole("columnheader", { name: "Session", exact: true }).getAttribute("aria-sort"))
    .toBe("ascending");

  await page.getByRole("checkbox", { name: "Select session till-1", exact: true }).check();
  await page.getByRole("checkbox", { name: "Select session till-10" }).check();
  await page.getByText("2 selected").waitFor();
  await page.getByRole("button", { name: "End 2 sessions" }).click();
  await page.getByRole("dialog", { name: "End 2 sessions?" }).getByRole("button", { name: "End 2 sessions" }).click();
  await expect.poll(names).toEqual(["till-2"]);
  await expect
    .poll(async () => (await browsers.list({ query: "till-" })).items.map(({ name }) => name))
    .toEqual(["till-2"]);
  await page.getByText("2 selected").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "End session till-2" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "End the session" }).click();
  await expect.poll(names).toEqual([]);
  // The refused name.
  expect(problems).toEqual([expect.stringContaining("status of 400")]);
  await page.close();
});

it("leaves the rest running when the dialog is closed", async () => {
  const { browsers } = test.shoal;
  const names = Array.from({ length: 7 }, (_, at) => `stall-${at}`);
  await Promise.all(names.map((name) => browsers.create({ name, timeout_seconds: 600 })));
  const { page, problems } = await person.openSignedIn("sessions?query=stall-");
  const held = Promise.withResolvers<undefined>();
  let requests = 0;
  await page.route("**/browsers/*", async (route) => {
    if (route.request().method() === "DELETE") {
      requests += 1;
      await held.promise;
    }
    await route.continue();
  });
  await page.getByRole("link", { name: "stall-6" }).waitFor();
  await page.getByRole("checkbox", { name: "Select all running sessions of the list" }).check();
  await page.getByRole("button", { name: "End 7 sessions" }).click();
  const dialog = page.getByRole("dialog", { name: "End 7 sessions?" });
  await dialog.getByRole("button", { name: "End 7 sessions" }).click();
  await expect.poll(() => requests).toBe(6);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  held.resolve(undefined);
  await page.getByText("6 sessions have ended.").waitFor();
  expect((await browsers.list({ query: "stall-" })).items).toHaveLength(1);
  expect(problems).toEqual([]);
  await page.close();
  for (const { session_id: id } of (await browsers.list({ query: "stall-" })).items) await browsers.delete(id);
});
