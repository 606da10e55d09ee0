/** The used part, which the package does not describe. */
declare module "swagger-ui-dist/swagger-ui-bundle.js" {
  export interface ExplorerRequest {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    userFetch?: typeof fetch;
    /** Further arguments of the shown command. */
    curlOptions?: readonly string[];
  }
  interface Options extends Readonly<Record<string, unknown>> {
    readonly requestInterceptor: (request: ExplorerRequest) => ExplorerRequest;
  }
  const SwaggerUIBundle: ((options: Options) => void) & { readonly presets: { readonly apis: unknown } };
  export default SwaggerUIBundle;
}
