import { fillAndPress, type Hands } from "./person.ts";

export const plainHands: Readonly<Record<string, Hands>> = {
  "one-page": { begin: fillAndPress("#inputEmail", "#inputPassword", "button[type=submit]") },
  "identifier-first": {
    async begin({ page, name, secret }) {
      await page.locator("#identifierId").fill(name);
      await page.getByRole("button", { name: "Next" }).click();
      await page.locator("input[name=Passwd]").fill(secret());
      await page.getByRole("button", { name: "Next" }).click();
    },
  },
  toast: { begin: fillAndPress("[name=username]", "[name=password]", "button") },
};
