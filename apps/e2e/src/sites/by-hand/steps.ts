import { fillAndPress, type Hands } from "./person.ts";

export const stepHands: Readonly<Record<string, Hands>> = {
  phone: {
    async begin({ page, secret }) {
      await page.getByLabel("Country").selectOption("+44");
      await page.getByLabel("Mobile number").fill("07700 900123");
      await page.getByRole("button", { name: "Next" }).click();
      await page.getByText("Enter the 4-digit code").waitFor();
      await page.getByLabel("Code").fill(secret());
      await page.getByRole("button", { name: "Next" }).click();
    },
  },
  tabs: {
    async begin(person) {
      await person.page.getByRole("tab", { name: "Password" }).click();
      await fillAndPress("[name=account]", "[name=pwd]", "#pw button")(person);
    },
  },
  question: {
    begin: fillAndPress("#u", "#p", "button"),
    async finish({ page, login }) {
      await page.getByLabel("first employer").fill(login.values.security_answer ?? "");
      await page.getByRole("button", { name: "Continue" }).click();
    },
  },
  interstitial: {
    begin: fillAndPress("[name=loginfmt]", "[name=passwd]", "[type=submit]"),
    async finish({ page }) {
      await page.getByRole("button", { name: "Yes" }).click();
      await page.getByRole("link", { name: "Skip for now" }).click();
    },
  },
};
