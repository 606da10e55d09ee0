import type { Page } from "playwright-core";
import { languages } from "../pages/languages.ts";
import { fillAndPress, type Hands } from "./person.ts";

async function enterAtProvider(page: Page, name: string, password: string): Promise<void> {
  await page.getByLabel("Email or phone").fill(name);
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByLabel("Enter your password").fill(password);
  await page.getByRole("button", { name: "Next" }).click();
}

/** Sites that lead to other hosts. */
export const domainHands: Readonly<Record<string, Hands>> = {
  "with-provider": {
    async begin({ page, name, secret }) {
      await page.getByRole("link", { name: "Continue with Google" }).click();
      await enterAtProvider(page, name, secret());
    },
    async finish({ page }) {
      await page.getByRole("button", { name: "Continue" }).click();
    },
  },
  "popup-provider": {
    async begin({ page, sites, name, secret, isRight }) {
      // The session of the provider would skip the form.
      sites.site("accounts.google.com").expireSessions();
      const opened = page.waitForEvent("popup");
      await page.getByRole("button", { name: "Sign in with Google" }).click();
      const popup = await opened;
      await enterAtProvider(popup, name, secret());
      if (isRight) await popup.getByRole("button", { name: "Continue" }).click();
    },
    async refused({ page, login }) {
      const popup = page.context().pages().at(-1);
      await popup?.getByText(login.refused).waitFor();
      await popup?.close();
    },
  },
  "other-domain": {
    async begin(person) {
      await person.page.getByRole("link", { name: "Hello, sign in" }).click();
      await fillAndPress("#ap_email", "#ap_password", "#signInSubmit")(person);
    },
  },
  "open-redirect": { begin: fillAndPress("#username", "#password", "[name=login]") },
};

/** Sites with misleading fields, in other languages, or with special sessions. */
export const wordHands: Readonly<Record<string, Hands>> = {
  traps: { begin: fillAndPress("#k1", "#k2", "main button:text-is('Log in')") },
  "register-next": { begin: fillAndPress("#username", "#password", "[name=login]") },
  bare: { begin: fillAndPress("[name=u]", "[name=p]", "[type=submit]") },
  already: {
    async begin(person) {
      await person.page.goto(person.sites.url("already", "/?prompt=login"));
      // The first visit has opened a session.
      person.site.expireSessions();
      await fillAndPress("[name=user]", "[name=pw]", "button")(person);
    },
  },
  expiring: { begin: fillAndPress("#uid", "#pin", "button") },
  ...Object.fromEntries(
    languages.map(({ lang, signOut }): [string, Hands] => [
      `lang-${lang}`,
      {
        begin: fillAndPress("[name=f1]", "[name=f2]", "button"),
        signOut: (page) => page.getByRole("link", { name: signOut }),
      },
    ]),
  ),
};
