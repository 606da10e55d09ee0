import { expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import { useSession } from "../testing/session.ts";
import { metricsFlags, openConnections } from "./open-connections.ts";
import { phone, usePerson, violationsOf, widthOf } from "./open-console.ts";

const test = useService(() => metricsFlags);
const session = useSession(test, { name: "operated" });
const person = usePerson(test);
const open = (tab: string, options?: Parameters<typeof person.openSignedIn>[1]) =>
  person.openSignedIn(`sessions/${session.id}?tab=${tab}`, options);

/** Chromium logs an answer with an error. */
const isRefusal = (problem: string) => problem.includes("status of 400");

it("starts a process, shows its output as it comes and as text, and kills it", async () => {
  const { page, problems } = await open("processes");
  await page.getByLabel("Load of the session").getByText(/MiB$/).waitFor();
  await page.getByText("No process was started").waitFor();
  const command = page.getByLabel("Start a process");
  await command.fill("printf '<img src=x onerror=alert(1)>\\n\\033[31mred\\033[0m\\n'; exec sleep 600 # <b>x</b>");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  const output = page.getByRole("log", { name: "Output of the process" });
  await output.getByText("<img src=x onerror=alert(1)>").waitFor();
  await output.getByText("red", { exact: true }).waitFor();
  await page.getByRole("table", { name: "Processes" }).getByText("Running").waitFor();
  await page.getByRole("table", { name: "Processes" }).getByText("<b>x</b>").waitFor();
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await page.getByRole("button", { name: /^Actions of process/ }).click();
  await page.getByRole("menuitem", { name: "Kill" }).click();
  await page
    .getByRole("dialog", { name: /^Kill process/ })
    .getByRole("button", { name: "Kill the process" })
    .click();
  await page.getByRole("region", { name: "Output" }).getByText("Ended by KILL.").waitFor();
  await page.getByRole("table", { name: "Processes" }).getByText("Ended by KILL").waitFor();
  const { items } = await test.shoal.browsers.process.list(session.id);
  expect(items.map(({ state, exit_code }) => [state, exit_code])).toEqual([["exited", 137]]);
  await command.fill("/missing/program");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByText("/missing/program was not found or may not be run.").waitFor();
  expect(problems.filter((problem) => !isRefusal(problem))).toEqual([]);
  await page.close();
});

it("changes the settings of a running session, names a refused field, and shows the program", async () => {
  const { page, problems } = await open("details");
  await page.getByRole("button", { name: "Change", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Change the session" });
  await dialog.getByLabel("Tags").fill("team=sales");
  await dialog.getByLabel("Denied hosts").fill("ads.example\nnot a host");
  await dialog.getByRole("checkbox", { name: "connection" }).check();
  await dialog.getByText('"connection"').waitFor();
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect.poll(() => dialog.getByLabel("Denied hosts").getAttribute("aria-invalid")).toBe("true");
  await dialog.getByLabel("Denied hosts").fill("ads.example");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "hidden" });
  await page.getByRole("cell", { name: "ads.example" }).waitFor();
  expect(await test.shoal.browsers.get(session.id)).toMatchObject({
    tags: { team: "sales" },
    network: { deny: ["ads.example"] },
  });
  expect(problems.filter((problem) => !isRefusal(problem))).toEqual([]);
  await page.close();
});

it("keeps what a program changed while the dialog with the settings was open", async () => {
  const { page } = await open("details");
  await page.getByRole("button", { name: "Change", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Change the session" });
  await dialog.getByLabel("Name").fill("renamed");
  await test.shoal.browsers.update(session.id, { network: { deny: ["later.example"] } });
  // The page behind the dialog.
  await page.locator("td", { hasText: "later.example" }).waitFor({ state: "attached" });
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "hidden" });
  const { name, network } = await test.shoal.browsers.get(session.id);
  expect({ name, network }).toEqual({ name: "renamed", network: { deny: ["later.example"] } });
  await page.close();
});

it("shows a session as in use while its live view is open, also before the service knows", async () => {
  const { page, problems } = await person.openSignedIn();
  await page.route(
    (url) => url.pathname === `/browsers/${session.id}`,
    async (route) => {
      const expires_at = new Date(Date.now() + 60_000).toISOString();
      await route.fulfill({ json: { ...(await test.shoal.browsers.get(session.id)), expires_at } });
    },
  );
  await page.goto(`${test.service.baseUrl}/console/sessions/${session.id}`);
  await page.getByRole("button", { name: "Take control" }).click();
  await page.getByText("Your mouse and keyboard act in the session.").waitFor();
  await page.getByText("In use", { exact: true }).waitFor();
  await page.getByRole("tab", { name: "Details" }).click();
  await page.getByText("Idle", { exact: true }).waitFor();
  expect(problems.filter((problem) => !problem.startsWith("WebSocket connection to"))).toEqual([]);
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.close();
});

it("ends the shell of a terminal when its page closes", async () => {
  const { page } = await open("terminal");
  await page.getByText("A shell in the session").waitFor();
  const states = async () => {
    const { items } = await test.shoal.browsers.process.list(session.id);
    return items.filter(({ tty }) => tty).map(({ state }) => state);
  };
  await expect.poll(states).toEqual(["running"]);
  await page.close();
  await expect.poll(states).toEqual(["exited"]);
});

it("closes the streams and sockets of a tab when the tab or the page is left", async () => {
  const open = () => openConnections(test);
  const none = { event_streams: 0, websockets: 0 };
  await expect.poll(open).toEqual(none);
  const { page } = await person.openSignedIn(`sessions/${session.id}?tab=details`);
  for (const [tab, kind] of [
    ["Live view", "websockets"],
    ["Terminal", "websockets"],
    ["Files", "event_streams"],
    ["Events", "event_streams"],
    ["Logs", "event_streams"],
  ] as const) {
    await page.getByRole("tab", { name: tab }).click();
    await expect.poll(async () => (await open())[kind], { message: tab }).toBeGreaterThan(0);
    await page.getByRole("tab", { name: "Details" }).click();
    await expect.poll(async () => (await open()).websockets, { message: `after ${tab}` }).toBe(0);
  }
  await page.getByRole("tab", { name: "Logs" }).click();
  await expect.poll(async () => (await open()).event_streams).toBeGreaterThan(0);
  await page.getByRole("link", { name: "Profiles" }).click();
  await expect.poll(open).toEqual(none);
  await page.close();
});

it.each(["light", "dark"] as const)("fits on a phone in %s colors", async (colorScheme) => {
  for (const tab of ["processes", "details"]) {
    const { page, problems } = await open(tab, { colorScheme, viewport: phone });
    await page.locator("#page-title").waitFor();
    await page.getByRole("tabpanel").waitFor();
    await expect.poll(() => widthOf(page)).toBe(phone.width);
    await expect.poll(() => violationsOf(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
  }
});

it("tells the life of a session, the author of its end, and the things that remain", async () => {
  const { session_id: id } = await test.shoal.browsers.create({
    name: "told",
    telemetry: { browser: { connection: { enabled: true } } },
  });
  await test.shoal.browsers.update(id, { tags: { team: "sales" } });
  const { page, problems } = await person.openSignedIn(`sessions/${id}`);
  await page.frameLocator("iframe").getByText("view only").waitFor();
  await page.getByRole("tab", { name: "Details" }).click();
  const life = page.getByLabel("Life of the session");
  await life.getByText("Started", { exact: true }).waitFor();
  await life.getByText(/^(A browser was started for it|It took a browser that was waiting)/).waitFor();
  await life.getByText("Its settings were changed").waitFor();
  await life.getByText("A viewer opened the live view").first().waitFor();
  await page.getByRole("button", { name: "End", exact: true }).click();
  await page.getByRole("button", { name: "End the session" }).click();
  await life.getByText(/^Ended by /).waitFor();
  await page.getByRole("heading", { name: "Kept after the end" }).waitFor();
  await page.getByText("No recordings").waitFor();
  await page.getByText("Kept until the retention of the service ends").waitFor();
  await page.getByText("Deleted: download_retention_hours of the service is 0").waitFor();
  await expect.poll(() => violationsOf(page)).toEqual([]);
  // The live view ends with its session, and the service answers 404 for downloads that it does not keep.
  const expected = /^WebSocket connection to|status of 404/;
  expect(problems.filter((problem) => !expected.test(problem))).toEqual([]);
  await page.close();
});

it("explains the failure of a session whose process was lost", async () => {
  const { session_id: id } = await test.shoal.browsers.create({ name: "lost" });
  await test.shoal.browsers.process
    .run(id, { command: "sh", args: ["-c", "kill -9 1; kill -9 -1"] })
    .catch(() => undefined);
  const { page } = await person.openSignedIn(`sessions/${id}?tab=details`);
  const life = page.getByLabel("Life of the session");
  await life.getByText(/^Ended[:.]/).waitFor();
  await expect.poll(() => violationsOf(page)).toEqual([]);
  await page.close();
});
