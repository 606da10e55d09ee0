import { eventually } from "@shoal/testkit";
import { totpCode } from "../hosting/totp.ts";
import { fillAndPress, type Hands } from "./person.ts";

export const codeHands: Readonly<Record<string, Hands>> = {
  totp: {
    begin: fillAndPress("#login_field", "#password", "[name=commit]"),
    async finish({ page, login }) {
      // The site refuses a code that is typed in one window and sent in the next.
      await eventually("a window has three seconds left", () => Date.now() % 30_000 < 27_000);
      await page.locator("#app_totp").fill(totpCode(login.totpSecret ?? ""));
      await page.getByRole("button", { name: "Verify" }).click();
    },
  },
  "six-boxes": {
    begin: fillAndPress("[type=email]", "[type=password]", "button"),
    async finish({ page, site }) {
      await page.getByLabel("digit 1 of 6").click();
      await page.keyboard.type(site.lastCode() ?? "");
    },
  },
  "sms-code": {
    begin: fillAndPress("[name=userid]", "[name=pwd]", "[name=go]"),
    async finish({ page, site }) {
      await page.locator("[name=secCode]").fill(site.lastCode() ?? "");
      await page.getByRole("button", { name: "Submit" }).click();
    },
  },
  "email-code": {
    async begin({ page, name, secret }) {
      await page.getByLabel("Email").fill(name);
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByLabel("Verification code").waitFor();
      await page.getByLabel("Verification code").fill(secret());
      await page.getByRole("button", { name: "Continue" }).click();
    },
  },
};
