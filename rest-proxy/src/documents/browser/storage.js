// The browser's storage. A browser may block it (SecurityError) or have no space: the page then works without stored values.

/**
 * @param {"localStorage" | "sessionStorage"} area
 * @param {string} key
 */
export function readStored(area, key) {
  try {
    return window[area].getItem(key);
  } catch {
    return null;
  }
}

/**
 * @param {"localStorage" | "sessionStorage"} area
 * @param {string} key
 * @param {string} value "" deletes the stored value
 */
export function store(area, key, value) {
  try {
    if (value === "") window[area].removeItem(key);
    else window[area].setItem(key, value);
  } catch {
    // Without storage the value is lost with the page.
  }
}
