import type { LoginModel } from "@shoal/login";

export type { PageOutline } from "@shoal/instance";
export type { LoginModel } from "@shoal/login";

/**
 * Exports of the ES module in the setting `login_model_module`. Its model is asked only for pages where Shoal finds no
 * form, and receives outlines: structure and texts of pages, without values of fields. Each answer has 30 seconds.
 */
export interface LoginModelModule {
  /** Called once, when the program starts. */
  createLoginModel(): LoginModel | Promise<LoginModel>;
}
