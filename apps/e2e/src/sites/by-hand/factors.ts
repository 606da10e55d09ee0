import { fillAndPress, type Hands } from "./person.ts";

export const factorHands: Readonly<Record<string, Hands>> = {
  choice: {
    begin: fillAndPress("#input28", "#input36", "[type=submit]"),
    async finish({ page, site }) {
      await page.getByRole("button", { name: "Select Text message" }).click();
      await page.getByLabel("Verification code").fill(site.lastCode() ?? "");
      await page.getByRole("button", { name: "Verify" }).click();
    },
  },
  push: {
    begin: fillAndPress("[name=login]", "[name=passwd]", "#idSIButton9"),
    async finish({ page, sites }) {
      sites.push.approve(await page.locator(".display-sign").innerText());
    },
  },
  "magic-link": {
    async begin({ page, name, isRight }) {
      await page.getByLabel("Your email").fill(isRight ? name : "other@example.com");
      await page.getByRole("button", { name: "Send me a link" }).click();
    },
    async finish({ page, site }) {
      await page.getByText("Check your inbox.").waitFor();
      await page.goto(site.lastLink() ?? "");
    },
  },
};
