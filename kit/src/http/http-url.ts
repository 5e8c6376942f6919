/** Whether the text is a URL with the scheme `http` or `https`. */
export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && ["http:", "https:"].includes(new URL(text).protocol);
}
