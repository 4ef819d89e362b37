// What came of the last try is in the address; where one wanted to go is its fragment, which the login keeps.
const said = { '?wrong': 'That is not the key.', '?wait': 'Too many wrong keys. Wait a few seconds, then try again.' }[location.search];
if (said) {
  document.getElementById('wrong').textContent = said;
  document.getElementById('key').setAttribute('aria-invalid', 'true');
}
document.forms[0].action = 'login' + location.hash;
