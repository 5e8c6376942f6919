/**
 * Corrects GraphiQL's own widgets after each change, because GraphiQL writes them again. Its tabs contain buttons, but a tab may not contain controls
 * (WAI-ARIA 1.2): they become a list of buttons. The names of the history's buttons, all "Set active", begin with the visible text (WCAG 2.5.3).
 */
export function correctAria(root: HTMLElement): void {
  const correct = () => {
    root.querySelector(".graphiql-tabs[role=tablist]")?.setAttribute("role", "list");
    root.querySelector("#graphiql-session[role=tabpanel]")?.setAttribute("role", "region");
    for (const tab of root.querySelectorAll(".graphiql-tab[aria-selected]")) {
      const ariaSelected = tab.getAttribute("aria-selected") ?? "false";
      tab.setAttribute("role", "listitem");
      tab.querySelector(".graphiql-tab-button")?.setAttribute("aria-current", ariaSelected);
      tab.removeAttribute("aria-selected");
    }
    for (const button of root.querySelectorAll('.graphiql-history-item-label[aria-label="Set active"]')) {
      button.setAttribute("aria-label", `${button.textContent}: set active`);
    }
  };
  const attributeFilter = ["role", "aria-selected", "aria-label"];
  new MutationObserver(correct).observe(root, { subtree: true, childList: true, attributeFilter });
}
