import { fillAndPress, type Hands } from "./person.ts";

export const ruleHands: Readonly<Record<string, Hands>> = {
  "lock-out": { begin: fillAndPress("[name=j_username]", "[name=j_password]", "[type=submit]") },
  "remember-me": {
    async begin(person) {
      await person.page.getByLabel("Remember Me").check();
      await fillAndPress("#user_login", "#user_pass", "#wp-submit")(person);
    },
  },
  "forced-change": {
    begin: fillAndPress("[name='f:user']", "[name='f:pass']", "button"),
    async finish({ page }) {
      await page.locator("[name=p1]").fill("Atlas-New-2026");
      await page.locator("[name=p2]").fill("Atlas-New-2026");
      await page.getByRole("button", { name: "Change password" }).click();
    },
  },
  organisation: {
    async begin(person) {
      await person.page.locator("#domain").fill(person.login.values.organization ?? "");
      await person.page.getByRole("button", { name: "Continue" }).click();
      await fillAndPress("[name=email]", "[name=password]", "button")(person);
    },
  },
  basic: {
    async begin({ page, site, name, secret }) {
      await page.goto(site.origin.replace("://", `://${name}:${encodeURIComponent(secret())}@`));
    },
  },
};
