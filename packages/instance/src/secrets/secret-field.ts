/** Names of fields for secrets, after their words are separated. */
const secretNames = [
  String.raw`pass(?:wor[dt]|wd|phrase|code|key)|pwd|kennwort|contrase|senha|wachtwoord|mot.?de.?passe|secret|credential|token`,
  String.raw`(?:api|access|private).?key|one.?time|pin.?code|card.?(?:num|no(?![a-z]))|cc.?num`,
  String.raw`(?:security|verification|auth\w*|recovery|backup|sms).?code`,
  String.raw`(?<![a-z])(?:pass|pin|otp|totp|mfa|2fa|cvv|cvc|csc|cvn|ssn)(?![a-z])`,
].join("|");

/**
 * Defines `isSecret(element)`: whether a field is for secrets, or was before the page showed its text, for scripts in isolated
 * worlds. `noteSecrets()` looks at all fields of the document, before an input may change them.
 */
export const secretFieldHelpers = `
  const secretNames = new RegExp(${JSON.stringify(secretNames)}, "i");
  const knownSecrets = (globalThis.shoalSecretFields ??= { elements: new WeakSet(), names: new Set() });
  const ownNames = (field) => [field.getAttribute("name"), field.id].filter(Boolean);
  const isHiddenText = (field) => field.type === "password" || (getComputedStyle(field).webkitTextSecurity ?? "none") !== "none"
    || /(?:^|\\s)(?:cc-|one-time-code|otp|[\\w-]*password)/i.test(field.getAttribute("autocomplete") ?? "");
  const labelsOf = (field) => [field.getAttribute("aria-label"), field.getAttribute("placeholder"),
    ...[...(field.labels ?? [])].map((label) => label.textContent),
    ...(field.getAttribute("aria-labelledby") ?? "").split(/\\s+/).map((id) => id && field.getRootNode().getElementById?.(id)?.textContent)]
    // A sentence may name what it is not.
    .map((text) => (text ?? "").trim()).filter((text) => text.length <= 40);
  const isSecret = (element) => {
    if (!(element instanceof HTMLElement)) return false;
    if (!/^(?:input|textarea)$/.test(element.localName) && !element.isContentEditable) return false;
    const names = ownNames(element);
    const words = [...names, ...labelsOf(element)].map((name) => name.replace(/([a-z0-9])([A-Z])/g, "$1 $2"));
    if (isHiddenText(element)) for (const name of names) knownSecrets.names.add(name);
    if (isHiddenText(element) || words.some((name) => secretNames.test(name)) || names.some((name) => knownSecrets.names.has(name)))
      knownSecrets.elements.add(element);
    return knownSecrets.elements.has(element);
  };
  const noteSecrets = (root = document) => {
    for (const field of root.querySelectorAll("input")) isSecret(field);
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
    while (walk.nextNode()) if (walk.currentNode.shadowRoot) noteSecrets(walk.currentNode.shadowRoot);
  };
`;
