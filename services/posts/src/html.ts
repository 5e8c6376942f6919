const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Converts a post's text to HTML, for the GraphQL field `PostContent.html`: blank lines separate paragraphs, other line breaks become `<br>`.
 * Markdown is not rendered, and every special character is escaped, so that the result needs no sanitizing.
 */
export function renderHtml(text: string): string {
  const lines = text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? "").split(/\r\n|\r|\n/);
  const paragraphs: string[][] = [[]];
  for (const line of lines) {
    if (line.trim() === "") paragraphs.push([]);
    else paragraphs.at(-1)?.push(line.trim());
  }
  return paragraphs
    .filter((paragraph) => paragraph.length > 0)
    .map((paragraph) => `<p>${paragraph.join("<br>")}</p>`)
    .join("");
}
