import { expect } from "vitest";
import { fillAndPress, type Hands, type Person } from "./person.ts";

/** Sites whose forms are made by script, are in frames, or are covered. */
export const scriptHands: Readonly<Record<string, Hands>> = {
  "slow-app": { begin: fillAndPress("[name=email]", "[name=password]", "button[type=submit]") },
  shadow: {
    async begin({ page, name, secret }) {
      // Playwright does not see closed shadow roots. The first field has the focus.
      await page.locator("fl-login").waitFor();
      await page.keyboard.type(name);
      await page.keyboard.press("Tab");
      await page.keyboard.type(secret());
      await page.keyboard.press("Enter");
    },
    async refused({ page, login }) {
      const cdp = await page.context().newCDPSession(page);
      await expect
        .poll(async () => JSON.stringify(await cdp.send("Accessibility.getFullAXTree")))
        .toContain(login.refused);
      await cdp.detach();
    },
  },
  modal: {
    async begin(person) {
      await person.page.locator("header").getByRole("button", { name: "Sign in" }).click();
      await fillAndPress("#lm-user", "#lm-pass", "#login-modal form button")(person);
    },
  },
  frame: {
    async begin({ page, name, secret }) {
      const frame = page.frameLocator("iframe");
      await frame.getByLabel("Account").fill(name);
      await frame.getByLabel("Password").fill(secret());
      await frame.getByRole("button", { name: "Sign In" }).click();
    },
    async refused({ page, login }) {
      await page.frameLocator("iframe").getByText(login.refused).waitFor();
    },
  },
  banner: {
    async begin(person) {
      const { page, isRight } = person;
      // The first visit asks; the choices are kept.
      if (!isRight) {
        await page.getByRole("button", { name: "Reject all" }).click();
        await page.getByRole("button", { name: "No, thanks" }).click();
      }
      await fillAndPress("#email", "#pass", "#send2")(person);
    },
  },
  passkey: {
    async begin({ page, name, secret }) {
      await page.getByLabel("Email").fill(name);
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByRole("link", { name: "Try another way" }).click();
      await page.getByRole("link", { name: "Enter your password" }).click();
      await page.getByLabel("Password").fill(secret());
      await page.getByRole("button", { name: "Sign in" }).click();
    },
  },
  "captcha-wall": {
    async begin(person) {
      await solveCaptcha(person);
      await fillAndPress("[name=email]", "[name=password]", "form button")(person);
    },
  },
  "captcha-badge": { begin: fillAndPress("[name=email]", "[name=password]", "button") },
};

async function solveCaptcha({ page, sites }: Person): Promise<void> {
  const checkbox = page.frameLocator("iframe[title^=Widget]").getByRole("checkbox");
  await checkbox.click();
  const challenge = page.frameLocator("iframe[title^=Main]");
  await challenge.getByText("containing a boat").waitFor();
  for (const tile of sites.captcha.solution()) await challenge.locator(`[data-tile="${String(tile)}"]`).click();
  await challenge.getByRole("button", { name: "Verify" }).click();
  await expect.poll(() => checkbox.getAttribute("aria-checked")).toBe("true");
}
