/**
 * Corrects roles and names in GraphiQL's own widgets, after each change, because GraphiQL writes them again:
 * - Its tabs are list items with the role `tab` that contain buttons, and a tab may not contain controls (WAI-ARIA 1.2, `tab`: children
 *   presentational). They become a list of buttons, the active one has `aria-current`, and their panel becomes a region.
 * - The buttons of the history are all named "Set active". Their names begin with the visible text (WCAG 2.5.3).
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
