// The entry of the pages' scripts. The pages are complete without them: they add the search, the try-it forms and conveniences.
import { prepareSearch } from "./search.js";
import { prepareTryIt } from "./try-it.js";

const exampleOrigin = "http://localhost:4010";
const languageKey = "tributary:language";

prepareSearch();
prepareSamples();
for (const details of document.querySelectorAll("details.try-it"))
  prepareTryIt(/** @type {HTMLDetailsElement} */ (details));
prepareNavigation();

/** Samples get the origin of the page and a copy button. The chosen language applies to all of them, also after a reload. */
function prepareSamples() {
  for (const code of document.querySelectorAll("pre")) {
    code.textContent = code.textContent.replaceAll(exampleOrigin, location.origin);
  }
  for (const block of document.querySelectorAll(".code")) block.append(createCopyButton(block));
  chooseLanguage(localStorage.getItem(languageKey));
  document.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || !target.name.startsWith("language-")) return;
    localStorage.setItem(languageKey, target.value);
    chooseLanguage(target.value);
  });
}

/** @param {string | null} language */
function chooseLanguage(language) {
  for (const input of document.querySelectorAll("input[type=radio]")) {
    if (input instanceof HTMLInputElement && input.value === language) input.checked = true;
  }
}

/** @param {Element} block */
function createCopyButton(block) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  // Browsers have no clipboard on pages from other hosts over HTTP.
  button.hidden = !isSecureContext;
  const copy = async () => {
    await navigator.clipboard.writeText(block.querySelector("pre")?.textContent ?? "");
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 2_000);
  };
  button.addEventListener("click", () => void copy());
  return button;
}

/** The menu closes when a link in it is followed, and the link of the operation on the screen is marked. */
function prepareNavigation() {
  const navigation = /** @type {HTMLElement} */ (document.querySelector("#navigation"));
  navigation.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest("a") && navigation.matches(":popover-open"))
      navigation.hidePopover();
  });
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
