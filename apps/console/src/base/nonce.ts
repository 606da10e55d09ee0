/** The nonce of this response for styles. */
export const styleNonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";

/**
 * Adds the nonce to style elements that libraries create without one (xterm.js, react-remove-scroll). The content
 * security policy blocks styles without it. Call it before these libraries run.
 */
export function allowLibraryStyles(): void {
  // oxlint-disable-next-line typescript/no-deprecated -- only one of its overloads is deprecated
  const create: (name: string, options?: ElementCreationOptions) => HTMLElement = document.createElement.bind(document);
  Object.defineProperty(document, "createElement", {
    value(name: string, options?: ElementCreationOptions) {
      const element = create(name, options);
      if (element instanceof HTMLStyleElement) element.nonce = styleNonce;
      return element;
    },
  });
}
