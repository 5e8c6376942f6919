// The entry of the pages' scripts. The pages are complete without them: they add the search, the caller switch, the try-it forms and conveniences.
import { prepareCallers } from "./callers.js";
import { prepareSearch } from "./search.js";
import { readStored, store } from "./storage.js";
import { prepareTryIt } from "./try-it.js";

const exampleOrigin = "http://localhost:4010";
const languageKey = "tributary:language";

followFragment();
prepareSearch();
prepareSamples();
prepareTryIt();
prepareNavigation();
prepareCallers();

/** An operation, guide or schema that a fragment of the index names has a page of its own. */
function followFragment() {
  const link = document.getElementById(location.hash.slice(1))?.querySelector(":scope:is(li) a");
  if (link instanceof HTMLAnchorElement) location.replace(link.href);
}

/** Samples get the origin of the page and a copy button. The chosen language applies to all of them, also after a reload. */
function prepareSamples() {
  for (const code of document.querySelectorAll("pre")) {
    code.textContent = code.textContent.replaceAll(exampleOrigin, location.origin);
  }
  const announcement = document.createElement("p");
  announcement.id = "announcement";
  announcement.role = "status";
  document.body.append(announcement);
  for (const block of document.querySelectorAll(".code")) block.append(createCopyButton(block, announcement));
  chooseLanguage(readStored("localStorage", languageKey));
  document.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || !target.name.startsWith("language-")) return;
    store("localStorage", languageKey, target.value);
    chooseLanguage(target.value);
  });
}

/** @param {string | null} language */
function chooseLanguage(language) {
  for (const input of document.querySelectorAll("input[type=radio]")) {
    if (input instanceof HTMLInputElement && input.value === language) input.checked = true;
  }
}

/**
 * @param {Element} block
 * @param {HTMLElement} announcement a live region: screen readers do not announce that the text of a button changes
 */
function createCopyButton(block, announcement) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  // Browsers have no clipboard on pages from other hosts over HTTP.
  button.hidden = !isSecureContext;
  /** @param {string} outcome */
  const report = (outcome) => {
    button.textContent = announcement.textContent = outcome;
    setTimeout(() => {
      button.textContent = "Copy";
      announcement.textContent = "";
    }, 2_000);
  };
  button.addEventListener("click", () => {
    const code = block.querySelector("pre")?.textContent ?? "";
    navigator.clipboard.writeText(code).then(
      () => report("Copied"),
      () => report("Copying failed"),
    );
  });
  return button;
}

/** The menu closes when a link in it is followed, and the link of the operation on the screen is marked. */
function prepareNavigation() {
  const navigation = /** @type {HTMLElement} */ (document.querySelector("#navigation"));
  navigation.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest("a") && navigation.matches(":popover-open"))
      navigation.hidePopover();
  });
  navigation.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) markCurrent(navigation, target.id);
    },
    { rootMargin: "-20% 0px -70% 0px" },
  );
  for (const article of document.querySelectorAll("article")) observer.observe(article);
}

/**
 * @param {HTMLElement} navigation
 * @param {string} id
 */
function markCurrent(navigation, id) {
  navigation.querySelector("[aria-current=location]")?.removeAttribute("aria-current");
  const link = navigation.querySelector(`a[href="#${id}"]`);
  link?.setAttribute("aria-current", "location");
  if (!navigation.matches(":hover, :focus-within")) link?.scrollIntoView({ block: "nearest" });
}
