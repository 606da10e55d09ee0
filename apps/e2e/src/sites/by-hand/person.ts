import type { Locator, Page } from "playwright-core";
import type { Site } from "../hosting/site.ts";
import type { SiteLogin } from "../logins.ts";
import type { Sites } from "../start-sites.ts";

/** A person at a page of a site. */
export interface Person {
  readonly page: Page;
  readonly sites: Sites;
  readonly site: Site;
  readonly login: SiteLogin;
  /** The name that the person types. */
  readonly name: string;
  readonly isRight: boolean;
  /** The password or code that the person types; a code is read when it is needed. */
  readonly secret: () => string;
}

/** How a person signs in to one site. */
export interface Hands {
  /** Up to the name and the secret, right or wrong. */
  begin(person: Person): Promise<void>;
  /** The steps after a right secret. */
  finish?(person: Person): Promise<void>;
  /** Waits for the site's words about a wrong secret; by default in the page. */
  refused?(person: Person): Promise<void>;
  /** The control that ends the session; by default a link, button or menu item that says so in English. */
  signOut?(page: Page): Locator;
}

/** Fills two fields of the page and presses a button. */
export function fillAndPress(name: string, password: string, button: string): Hands["begin"] {
  return async (person) => {
    const { page } = person;
    await page.locator(name).fill(person.name);
    await page.locator(password).fill(person.secret());
    await page.locator(button).click();
  };
}
