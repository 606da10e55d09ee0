import { phrases } from "./phrases.ts";

/** English, German, French, Spanish, Portuguese, Italian, Dutch, Polish, Swedish, Russian, Turkish, Japanese, Chinese, Korean. */
export const passwordWords = phrases(
  "password|passwd|pass word|passphrase|pass|pwd|passcode|j password|kennwort|passwort|mot de passe|contrasena|clave|senha|palavra passe",
  "parola|wachtwoord|haslo|hasło|losenord|lösenord|пароль|sifre|şifre|heslo|salasana|パスワード|密码|密碼|비밀번호|암호",
);
export const usernameWords = phrases(
  "user|username|user name|userid|user id|login|loginname|login name|login id|login field|logon|account|account name|accountname|account id|member|member id|membership number",
  "employee number|employee id|personnel number|customer number|customer id|client number|benutzername|benutzer|benutzerkennung|nutzername|kundennummer|anmeldename|kennung",
  "identifiant|nom d utilisateur|nom utilisateur|usuario|nombre de usuario|utilizador|usuário|nome de usuario|utente|nome utente|codice cliente|gebruikersnaam|gebruiker",
  "nazwa uzytkownika|nazwa użytkownika|uzytkownik|login|anvandarnamn|användarnamn|имя пользователя|логин|пользователь|kullanici adi|kullanıcı adı|uzivatelske jmeno",
  "ユーザー名|ユーザー|ユーザid|ログインid|会員番号|アカウント|用户名|用戶名|帐号|帳號|账号|아이디|사용자|identifier|identification|identifikation|uid|j username|handle|nickname",
);
export const emailWords = phrases(
  "email|e mail|mail|mailaddress|email address|emailaddress|e mail adresse|adresse e mail|adresse mail|courriel|correo|correo electronico|correo electrónico|endereco de email",
  "posta elettronica|indirizzo email|mailadres|adres e mail|poczta|e postadress|epost|e post|эл почта|почта|электронная почта|e posta|eposta|メール|メールアドレス|邮箱|郵箱|电子邮件|電子郵件|이메일|메일",
);
export const phoneWords = phrases(
  "phone|telephone|mobile|mobile number|phone number|cell|tel|telefon|telefonnummer|handynummer|mobilnummer|mobiltelefon|téléphone|numero de telephone|telefono|teléfono|móvil|celular|telefone|telemóvel",
  "cellulare|telefoonnummer|telefoon|mobiel|numer telefonu|телефон|номер телефона|cep telefonu|電話番号|電話|携帯|手机|手機|电话|전화번호|휴대폰|휴대전화",
);
/** Sure signs of a one-time code. */
export const codeWords = phrases(
  "otp|totp|one time code|one time password|one time passcode|onetimecode|verification code|security code|authentication code|auth code|access code|login code|sms code|app otp|sec code|confirmation code|2fa|mfa|two factor|two step|digit code|authenticator code|temporary code|enter code|enter the code|code from",
  "einmalcode|einmalpasswort|bestatigungscode|bestätigungscode|sicherheitscode|prüfcode|tan|code de verification|code de vérification|code de securite|code de sécurité|code a usage unique|code reçu",
  "codigo de verificacion|código de verificación|codigo de seguridad|código de seguridad|codigo de acesso|código de verificação|código de segurança|codigo|código|codice di verifica|codice di sicurezza|codice|verificatiecode|beveiligingscode",
  "kod weryfikacyjny|kod|verifieringskod|engangskod|код подтверждения|код|dogrulama kodu|doğrulama kodu|onay kodu|kod|認証コード|確認コード|セキュリティコード|验证码|驗證碼|校验码|인증번호|인증 코드|보안 코드",
);
/** May also be something else, such as a postal code. */
export const perhapsCodeWords = phrases("code|pin|passcode|digit|token|コード|代码|코드|ziffer|chiffre|digito|cifra");
export const notCodeWords = phrases(
  "postal|postcode|zip|promo|coupon|voucher|discount|country|area code|gift|referral|invite|plz|gutschein|postleitzahl|code postal|codigo postal|cap",
);
export const organizationWords = phrases(
  "organization|organisation|company|workspace|tenant|team|subdomain|domain|company id|company code|organization id|firma|firmenkennung|mandant|unternehmen|arbeitsbereich|entreprise|organisme|empresa|organizacion|organización|organização",
  "azienda|organizzazione|bedrijf|organisatie|organizacja|firma|foretag|företag|организация|компания|şirket|sirket|kurum|組織|会社|会社コード|企業|组织|公司|企业|조직|회사",
);
export const searchWords = phrases(
  "search|find|suche|suchen|recherche|rechercher|buscar|busqueda|búsqueda|pesquisar|pesquisa|busca|cerca|ricerca|zoeken|szukaj|sök|поиск|найти|ara|検索|搜索|搜尋|검색|q",
);
export const newsletterWords = phrases(
  "newsletter|subscribe|subscription|mailing list|mailinglist|updates|special offers|stay informed|abonnieren|rundbrief|abonnez vous|s abonner|infolettre|suscribirse|suscribete|boletín|boletin|inscreva se|iscriviti|nieuwsbrief|subskrypcja|zapisz sie|nyhetsbrev|рассылка|подписаться|bülten|abone ol",
  "メルマガ|ニュースレター|購読|订阅|訂閱|뉴스레터|구독",
);
export const otherFieldWords = phrases(
  "captcha|card number|cc number|cvc|cvv|iban|ssn|social security|birth|birthday|first name|firstname|last name|lastname|full name|surname|your name|street|city|message|comment|subject|coupon|promo|quantity|amount|vorname|nachname|geburtsdatum|prenom|prénom|nombre|apellido|apellidos|sobrenome|nome completo|cognome|voornaam|achternaam|imie|nazwisko",
);
export const newPasswordWords = phrases(
  "new password|create password|create a password|choose a password|choose password|set password|confirm password|repeat password|retype password|password confirmation|confirm new password|re enter|again|new pass|repeat new|repeat|confirm",
  "neues passwort|neues kennwort|passwort wiederholen|passwort bestatigen|passwort bestätigen|nouveau mot de passe|confirmer le mot de passe|confirmez|nueva contrasena|nueva contraseña|confirmar contrasena|confirmar contraseña|repetir|nova senha|confirmar senha|nuova password|conferma password|ripeti",
  "nieuw wachtwoord|herhaal|bevestig|nowe haslo|nowe hasło|powtorz|powtórz|nytt losenord|nytt lösenord|новый пароль|повторите|подтвердите|yeni sifre|yeni şifre|tekrar|新しいパスワード|パスワード確認|再入力|新密码|确认密码|新密碼|새 비밀번호|비밀번호 확인",
);
export const oldPasswordWords = phrases(
  "current password|old password|existing password|aktuelles passwort|altes passwort|aktuelles kennwort|altes kennwort|mot de passe actuel|ancien mot de passe|contrasena actual|contraseña actual|senha atual|password attuale|vecchia password|huidig wachtwoord|oud wachtwoord|obecne haslo|stare haslo|текущий пароль|старый пароль|mevcut sifre|現在のパスワード|当前密码|旧密码|현재 비밀번호",
);
